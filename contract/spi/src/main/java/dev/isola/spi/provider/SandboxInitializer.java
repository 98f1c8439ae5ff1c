package dev.isola.spi.provider;

import dev.isola.spi.Bytes;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.Category;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.exec.OutputLimit;
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
public final class SandboxInitializer {
  /** What an error about init carries of standard output and of standard error, each. */
  private static final OutputLimit OUTPUT = new OutputLimit(2048, 2048);

  private SandboxInitializer() {}

  /**
   * Puts the seed files there and runs the init command.
   *
   * @param left what is left of the startup timeout; asked after the files are there
   * @throws dev.isola.spi.error.InvalidRequest with {@code INIT_FAILED} when init cannot start,
   *     fails or does not end within its time: the command is the caller's, so no other provider is
   *     tried
   * @throws dev.isola.spi.error.SandboxException when a file cannot be written
   */
  public static void initialize(Sandbox sandbox, SandboxSpec spec, Supplier<Duration> left) {
    for (Map.Entry<String, Bytes> file : spec.seedFiles().entrySet()) {
      sandbox
          .files()
          .write(
              file.getKey(),
              new ByteArrayInputStream(file.getValue().toArray()),
              WriteOptions.DEFAULT);
    }
    if (spec.init().isPresent()) {
      init(sandbox, spec, spec.init().get(), left.get());
    }
  }

  private static void init(Sandbox sandbox, SandboxSpec spec, Command init, Duration left) {
    Duration time = init.timeout().filter(own -> own.compareTo(left) < 0).orElse(left);
    ExecResult result;
    try {
      result = sandbox.run(init.withTimeout(time), OUTPUT);
    } catch (SandboxException e) {
      throw e.category() == Category.CALLER && e.code() != ErrorCode.SANDBOX_DESTROYED
          ? unstartable(spec, e)
          : e;
    }
    if (result.timedOut()) {
      throw failure(
          spec,
          result,
          "the init command did not end within " + time.toSeconds() + " s",
          "raise startupTimeout, or do less in the init command");
    }
    if (!result.succeeded()) {
      throw failure(
          spec,
          result,
          "the init command failed with exit code " + result.exitCode(),
          "correct the init command; its output is in the error's context");
    }
  }

  private static SandboxException unstartable(SandboxSpec spec, SandboxException e) {
    return Fault.of(
            ErrorCode.INIT_FAILED,
            "the init command cannot be started: " + e.fault().problem(),
            "correct the init command")
        .sandbox(spec.id())
        .with("code", e.code().name())
        .exception(e);
  }

  /** The output may hold secrets: it is for the caller, and not in the sentence that is stored. */
  private static SandboxException failure(
      SandboxSpec spec, ExecResult result, String what, String remedy) {
    return Fault.of(ErrorCode.INIT_FAILED, what, remedy)
        .sandbox(spec.id())
        .with("exitCode", Integer.toString(result.exitCode()))
        .with("timedOut", Boolean.toString(result.timedOut()))
        .with("stdout", result.stdout().text())
        .with("stderr", result.stderr().text())
        .exception();
  }
}
