package dev.isola.bench;

import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Output;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads a large amount of output from one command. */
final class FloodBenchmarks {
  private static final int N = 5;

  private final long size;
  private final String[] arguments;

  private FloodBenchmarks(long size) {
    this.size = size;
    this.arguments = new String[] {"head", "-c", Long.toString(size), "/dev/zero"};
  }

  static List<Benchmark> of(BenchEnvironment environment, BenchPlan plan) {
    FloodBenchmarks events = new FloodBenchmarks(plan.sizes().bytes());
    List<BenchSubject> subjects = new ArrayList<>();
    environment
        .raw()
        .ifPresent(raw -> subjects.add(new BenchSubject("raw", (n, c) -> events.raw(raw, n))));
    if (environment.isEnabled("processbuilder")) {
      subjects.add(BenchSubject.timed("processbuilder", events::process));
    }
    for (BenchProvider benchProvider : environment.providers()) {
      subjects.add(BenchSubject.timed(benchProvider.name(), () -> events.execution(benchProvider)));
    }
    return List.of(
        new Benchmark("flood", "raw", 1, plan.n().orElse(N), 1, plan.sizes().bytes(), subjects));
  }

  private Samples raw(RawProgram program, int n) throws IOException, InterruptedException {
    Samples samples = Samples.NONE;
    for (int i = 0; i < n; i++) {
      samples =
          samples.plus(
              program.run("flood", arguments[0], arguments[1], arguments[2], arguments[3]));
    }
    return samples;
  }

  private void process() throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(arguments).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    byte[] buffer = new byte[64 * 1024];
    long read = 0;
    try (InputStream in = process.getInputStream()) {
      for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
        read += count;
      }
    }
    LocalProgram.await(process);
    check(read);
  }

  private void execution(BenchProvider benchProvider) throws IOException {
    Command command = Command.argv(arguments[0], arguments[1], arguments[2], arguments[3]);
    long read = 0;
    try (Execution execution = benchProvider.sandbox().start(command)) {
      for (Optional<Output> piece = execution.read(); piece.isPresent(); piece = execution.read()) {
        if (piece.get() instanceof Output.Data data) {
          read += data.bytes().size();
        }
      }
      if (!(execution.await() instanceof Exit.Exited(int code) && code == 0)) {
        throw new IOException("head failed");
      }
    }
    check(read);
  }

  private void check(long read) throws IOException {
    if (read != size) {
      throw new IOException(read + " bytes arrived instead of " + size);
    }
  }
}
