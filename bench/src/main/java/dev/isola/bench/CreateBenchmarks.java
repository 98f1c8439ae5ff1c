package dev.isola.bench;

import dev.isola.spi.DestroyOptions;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Measures from no sandbox to the result of the first command: creates a sandbox and runs {@code
 * true} in it. Destruction is reported separately; a peer whose single command does both has only
 * the total.
 */
final class CreateBenchmarks {
  private static final Command TRUE = Command.argv("/bin/true");
  private static final int N = 50;
  private static final int WARM_UP = 20;

  private CreateBenchmarks() {}

  static List<Benchmark> of(BenchEnvironment environment, BenchPlan plan) {
    List<BenchSubject> subjects = new ArrayList<>();
    for (Peer peer : environment.peers().values()) {
      subjects.addAll(peer.createSubjects());
    }
    for (BenchProvider benchProvider : environment.providers()) {
      subjects.add(
          new BenchSubject(benchProvider.name(), (n, concurrency) -> sandboxes(benchProvider, n)));
    }
    return List.of(
        new Benchmark("create", "bwrap", 1, plan.n().orElse(N), WARM_UP, 1, subjects, "destroy"));
  }

  static Samples sandboxes(BenchProvider benchProvider, int n) throws IOException {
    Samples samples = Samples.NONE;
    for (int i = 0; i < n; i++) {
      SandboxSpec spec = benchProvider.spec();
      long start = System.nanoTime();
      long answered = start;
      try {
        Sandbox sandbox = benchProvider.provider().create(spec);
        ExecResult result = sandbox.run(TRUE);
        answered = System.nanoTime();
        if (!result.succeeded()) {
          throw new IOException("/bin/true exited with " + result.exit());
        }
      } finally {
        benchProvider.provider().destroy(spec.id(), DestroyOptions.FORCE);
      }
      long gone = System.nanoTime();
      samples =
          samples.plus(Samples.of(answered - start, answered - start).withAfter(gone - answered));
    }
    return samples;
  }
}
