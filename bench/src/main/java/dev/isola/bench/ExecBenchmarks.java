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

  static List<Benchmark> of(BenchEnvironment environment, BenchPlan plan)
      throws InterruptedException {
    List<BenchSubject> subjects = new ArrayList<>();
    environment
        .raw()
        .ifPresent(
            raw ->
                subjects.add(
                    new BenchSubject(
                        "raw",
                        (n, concurrency) ->
                            raw.run(
                                "exec",
                                Integer.toString(n),
                                Integer.toString(concurrency),
                                PROGRAM))));
    if (environment.isEnabled("processbuilder")) {
      subjects.add(BenchSubject.timed("processbuilder", ExecBenchmarks::process));
    }
    for (Map.Entry<String, Peer> peer : environment.peers().entrySet()) {
      try {
        subjects.addAll(peer.getValue().execSubjects());
      } catch (IOException e) {
        environment
            .skipped()
            .add(new SkippedSubject(peer.getKey(), "failed in exec: " + e.getMessage()));
      }
    }
    for (BenchProvider benchProvider : environment.providers()) {
      subjects.add(BenchSubject.timed(benchProvider.name(), () -> run(benchProvider.sandbox())));
      if (environment.isEnabled("engine")) {
        // The sandbox is looked up for each command, as a server does for each request.
        environment
            .engine(benchProvider)
            .ifPresent(
                benchEngine ->
                    subjects.add(
                        BenchSubject.timed(benchEngine.name(), () -> run(benchEngine.sandbox()))));
      }
    }
    int n = plan.n().orElse(N);
    return List.of(
        new Benchmark("exec", "raw", 1, n, WARM_UP, 1, subjects),
        new Benchmark("exec", "raw", 8, n, WARM_UP, 1, subjects));
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
