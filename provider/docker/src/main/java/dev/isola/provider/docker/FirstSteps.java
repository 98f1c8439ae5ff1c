package dev.isola.provider.docker;

import dev.isola.provider.docker.http.Deadline;
import dev.isola.spi.Bytes;
import dev.isola.spi.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.file.WriteOptions;
import dev.isola.spi.spec.SandboxSpec;
import java.io.ByteArrayInputStream;
import java.util.Map;

/** What is done in a sandbox before create returns: files are put there, and init runs. */
final class FirstSteps {
  private FirstSteps() {}

  static void take(Sandbox sandbox, SandboxSpec spec, Deadline deadline) {
    seed(sandbox, spec);
    initialize(sandbox, spec, deadline);
  }

  private static void seed(Sandbox sandbox, SandboxSpec spec) {
    for (Map.Entry<String, Bytes> file : spec.seedFiles().entrySet()) {
      sandbox
          .files()
          .write(
              file.getKey(),
              new ByteArrayInputStream(file.getValue().toArray()),
              WriteOptions.DEFAULT);
    }
  }

  private static void initialize(Sandbox sandbox, SandboxSpec spec, Deadline deadline) {
    if (spec.init().isEmpty()) {
      return;
    }
    ExecResult result = sandbox.run(spec.init().get().withTimeout(deadline.left()));
    if (result.timedOut()) {
      throw Fault.of(
              ErrorCode.DEADLINE_EXCEEDED,
              "the init command took longer than the startup timeout of " + spec.startupTimeout(),
              "raise startupTimeout, or do less in the init command")
          .sandbox(spec.id())
          .exception();
    }
    if (!result.succeeded()) {
      throw Fault.of(
              ErrorCode.SPAWN_FAILED,
              "the init command failed with " + result.exit() + ": " + result.stderr().text(),
              "correct the init command")
          .sandbox(spec.id())
          .exception();
    }
  }
}
