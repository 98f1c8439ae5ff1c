package dev.isola.bench;

import java.io.IOException;
import java.util.List;
import java.util.Map;

/** {@code bwrap} alone: namespaces around a command, without limits, agent or ledger. */
record BareBubblewrap(String version) implements Peer {
  private static final List<String> RUN =
      List.of(
          "bwrap",
          "--unshare-all",
          "--ro-bind",
          "/",
          "/",
          "--proc",
          "/proc",
          "--dev",
          "/dev",
          "--new-session",
          "--die-with-parent",
          "true");

  static Peer open() throws IOException, InterruptedException {
    LocalProgram.requireInstalled("bwrap");
    String version = LocalProgram.output(Map.of(), List.of("bwrap", "--version")).strip();
    LocalProgram.run(Map.of(), RUN);
    return new BareBubblewrap(version);
  }

  @Override
  public List<BenchSubject> createSubjects() {
    return List.of(BenchSubject.timed("bwrap", () -> LocalProgram.run(Map.of(), RUN)));
  }

  @Override
  public List<BenchSubject> execSubjects() {
    return List.of(); // bwrap cannot run a command in an existing sandbox.
  }

  @Override
  public void close() {}
}
