package dev.isola.bench;

import dev.isola.spi.Isolation;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.exec.OutputLimit;
import dev.isola.spi.file.WriteOptions;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;

/**
 * Measures a command in a virtual machine: through the provider, inside of the same guest without
 * any channel ({@code NAME-native}), and the channel alone ({@code NAME-round-trip}, a question
 * about one file).
 */
final class MachineBenchmarks {
  private static final String PROGRAM = "/bin/true";
  private static final Command TRUE = Command.argv(PROGRAM);
  private static final String RAW = "/tmp/isola-raw";
  private static final int N = 200;
  private static final int WARM_UP = 40;

  private MachineBenchmarks() {}

  static List<Benchmark> of(BenchEnvironment environment, BenchPlan plan) throws IOException {
    List<Benchmark> benchmarks = new ArrayList<>();
    for (BenchProvider provider : environment.providers()) {
      if (provider.provider().info().isolation() != Isolation.VM
          || environment.program().isEmpty()) {
        environment
            .skipped()
            .add(new SkippedSubject(provider.name(), "cannot run machine: no virtual machine"));
        continue;
      }
      Sandbox sandbox = provider.sandbox();
      try (InputStream program = Files.newInputStream(environment.program().get().path())) {
        sandbox.files().write(RAW, program, WriteOptions.DEFAULT);
      }
      sandbox.run(Command.argv("chmod", "755", RAW));
      String name = provider.name();
      List<BenchSubject> subjects =
          List.of(
              new BenchSubject(name + "-native", (n, _) -> inside(sandbox, n)),
              BenchSubject.timed(name + "-round-trip", () -> sandbox.files().stat("/").mode()),
              BenchSubject.timed(name, () -> run(sandbox)));
      benchmarks.add(
          new Benchmark(
              "machine-exec", name + "-native", 1, plan.n().orElse(N), WARM_UP, 1, subjects));
    }
    return benchmarks;
  }

  private static Samples inside(Sandbox sandbox, int n) throws IOException {
    ExecResult result =
        sandbox.run(
            Command.argv(RAW, "exec", Integer.toString(n), "1", PROGRAM), OutputLimit.DEFAULT);
    if (!result.succeeded()) {
      throw new IOException("isola-raw exited with " + result.exit());
    }
    return RawProgram.parse(result.stdout().text());
  }

  private static void run(Sandbox sandbox) throws IOException {
    ExecResult result = sandbox.run(TRUE);
    if (!result.succeeded()) {
      throw new IOException(PROGRAM + " exited with " + result.exit());
    }
  }
}
