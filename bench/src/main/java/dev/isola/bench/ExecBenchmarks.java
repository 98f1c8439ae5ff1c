package dev.isola.bench;

import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Measures {@code /bin/true} in a running sandbox: the cost of a command. */
final class ExecBenchmarks {
  private static final String PROGRAM = "/bin/true";
  private static final Command TRUE = Command.argv(PROGRAM);
  private static final int N = 2_000;
  private static final int WARM_UP = 1_000;

  private ExecBenchmarks() {}

  static List<Benchmark> of(BenchEnvironment arena, BenchPlan plan) throws InterruptedException {
    List<BenchSubject> contestants = new ArrayList<>();
    arena
        .raw()
        .ifPresent(
            raw ->
                contestants.add(
                    new BenchSubject(
                        "raw",
                        (n, concurrency) ->
                            raw.run(
                                "exec",
                                Integer.toString(n),
                                Integer.toString(concurrency),
                                PROGRAM))));
    if (arena.isEnabled("processbuilder")) {
      contestants.add(BenchSubject.timed("processbuilder", ExecBenchmarks::process));
    }
    for (Map.Entry<String, Peer> peer : arena.peers().entrySet()) {
      try {
        contestants.addAll(peer.getValue().execSubjects());
      } catch (IOException e) {
        arena.skipped().add(new SkippedSubject(peer.getKey(), "failed in exec: " + e.getMessage()));
      }
    }
    for (BenchProvider entrant : arena.providers()) {
      contestants.add(BenchSubject.timed(entrant.name(), () -> run(entrant.sandbox())));
      if (arena.isEnabled("engine")) {
        // The sandbox is looked up for each command, as a server does for each request.
        arena
            .engine(entrant)
            .ifPresent(
                housed ->
                    contestants.add(
                        BenchSubject.timed(housed.name(), () -> run(housed.sandbox()))));
      }
    }
    int n = plan.n().orElse(N);
    return List.of(
        new Benchmark("exec", "raw", 1, n, WARM_UP, 1, contestants),
        new Benchmark("exec", "raw", 8, n, WARM_UP, 1, contestants));
  }

  private static void run(Sandbox sandbox) throws IOException {
    ExecResult result = sandbox.run(TRUE);
    if (!result.succeeded()) {
      throw new IOException(PROGRAM + " exited with " + result.exit());
    }
  }

  private static void process() throws IOException, InterruptedException {
    Process process = new ProcessBuilder(PROGRAM).start();
    process.getOutputStream().close();
    process.getInputStream().readAllBytes();
    process.getErrorStream().readAllBytes();
    LocalProgram.await(process);
  }
}
