package dev.isola.conformance.check;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.conformance.escape.HostTargets;
import dev.isola.conformance.escape.ProbeContext;
import dev.isola.conformance.escape.ProbeProgram;
import dev.isola.conformance.escape.TargetFacts;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import java.io.IOException;
import java.util.Map;
import java.util.UUID;

/** Targets for escape probes in another sandbox. */
final class SandboxTargets implements AutoCloseable {
  private final Execution execution;
  private final ProbeContext context;

  private SandboxTargets(Execution execution, ProbeContext context) {
    this.execution = execution;
    this.context = context;
  }

  /** Creates targets in {@code sandbox}, which already contains the probe program. */
  static SandboxTargets create(Sandbox sandbox) {
    ProbeContext empty = new ProbeContext(UUID.randomUUID().toString(), Map.of());
    sandbox.files().writeText(empty.mark() + "-file", empty.mark(), UTF_8);
    Execution execution =
        sandbox.start(
            Command.argv("./" + ProbeProgram.NAME, TargetFacts.arguments(empty, "."))
                .withEnv(HostTargets.VARIABLE, empty.mark())
                .withStdin());
    String printed = ExecutionReader.of(execution).until(TargetFacts.READY).stdout();
    return new SandboxTargets(execution, new ProbeContext(empty.id(), TargetFacts.parse(printed)));
  }

  ProbeContext context() {
    return context;
  }

  @Override
  public void close() throws IOException {
    try (execution) {
      execution.stdin().close();
      execution.await();
    }
  }
}
