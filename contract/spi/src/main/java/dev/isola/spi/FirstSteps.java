package dev.isola.spi;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.file.WriteOptions;
import dev.isola.spi.spec.SandboxSpec;
import java.io.ByteArrayInputStream;
import java.time.Duration;
import java.util.Map;
import java.util.function.Supplier;

/**
 * What is done in a sandbox before {@link Provider#create} returns: files are put there, and init
 * runs. A provider calls it once, when the sandbox can be reached; what it throws fails the create,
 * and the provider removes the sandbox.
 */
public final class FirstSteps {
  private FirstSteps() {}

  /**
   * Puts the seed files there and runs the init command.
   *
   * @param left what is left of the startup timeout; asked after the files are there
   * @throws dev.isola.spi.error.SandboxException when a file cannot be written, and when init fails
   *     or takes longer
   */
  public static void take(Sandbox sandbox, SandboxSpec spec, Supplier<Duration> left) {
    for (Map.Entry<String, Bytes> file : spec.seedFiles().entrySet()) {
      sandbox
          .files()
          .write(
              file.getKey(),
              new ByteArrayInputStream(file.getValue().toArray()),
              WriteOptions.DEFAULT);
    }
    if (spec.init().isPresent()) {
      expectSuccess(sandbox.run(spec.init().get().withTimeout(left.get())), spec);
    }
  }

  private static void expectSuccess(ExecResult result, SandboxSpec spec) {
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
