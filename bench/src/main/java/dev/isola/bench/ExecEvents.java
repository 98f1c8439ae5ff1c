package dev.isola.bench;

import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Runs {@code /bin/true} in a sandbox that is there already: what a command costs. */
final class ExecEvents {
  private static final String PROGRAM = "/bin/true";
  private static final Command TRUE = Command.argv(PROGRAM);
  private static final int N = 2_000;
  private static final int WARM_UP = 1_000;

  private ExecEvents() {}

  static List<Event> of(Arena arena, Plan plan) throws InterruptedException {
    List<Contestant> contestants = new ArrayList<>();
    arena
        .raw()
        .ifPresent(
            raw ->
                contestants.add(
                    new Contestant(
                        "raw",
                        (n, concurrency) ->
                            raw.run(
                                "exec",
                                Integer.toString(n),
                                Integer.toString(concurrency),
                                PROGRAM))));
    if (arena.has("processbuilder")) {
      contestants.add(Contestant.timed("processbuilder", ExecEvents::process));
    }
    for (Map.Entry<String, Peer> peer : arena.peers().entrySet()) {
      try {
        contestants.addAll(peer.getValue().executing());
      } catch (IOException e) {
        arena.absent().add(new Absent(peer.getKey(), "failed in exec: " + e.getMessage()));
      }
    }
    for (Entrant entrant : arena.entrants()) {
      contestants.add(Contestant.timed(entrant.name(), () -> run(entrant.sandbox())));
      if (arena.has("engine")) {
        // Looked up for each command, as a server does it that is asked for each.
        arena
            .housed(entrant)
            .ifPresent(
                housed ->
                    contestants.add(Contestant.timed(housed.name(), () -> run(housed.sandbox()))));
      }
    }
    int n = plan.n().orElse(N);
    return List.of(
        new Event("exec", "raw", 1, n, WARM_UP, 1, contestants),
        new Event("exec", "raw", 8, n, WARM_UP, 1, contestants));
  }

  private static void run(Sandbox sandbox) throws IOException {
    ExecResult result = sandbox.run(TRUE);
    if (!result.succeeded()) {
      throw new IOException(PROGRAM + " ended with " + result.exit());
    }
  }

  private static void process() throws IOException, InterruptedException {
    Process process = new ProcessBuilder(PROGRAM).start();
    process.getOutputStream().close();
    process.getInputStream().readAllBytes();
    process.getErrorStream().readAllBytes();
    Tool.await(process);
  }
}
