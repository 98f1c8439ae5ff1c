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
 * Initializes a new sandbox: writes the seed files and runs the init command. A provider calls it
 * once in {@link Provider#create}, as soon as the sandbox is reachable. If it throws, the create
 * fails with that exception, and the provider removes the sandbox.
 */
public final class SandboxInitializer {
  /** How much standard output and standard error of a failed init command an error carries. */
  private static final OutputLimit OUTPUT = new OutputLimit(2048, 2048);

  private SandboxInitializer() {}

  /**
   * Writes the seed files and runs the init command.
   *
   * @param remaining returns the remainder of the startup timeout; evaluated after the files are
   *     written
   * @throws dev.isola.spi.error.InvalidRequest with {@code INIT_FAILED} if the init command cannot
   *     start, fails or exceeds its timeout. The command comes from the client, so no other
   *     provider is tried
   * @throws dev.isola.spi.error.SandboxException if a file cannot be written
   */
  public static void initialize(Sandbox sandbox, SandboxSpec spec, Supplier<Duration> remaining) {
    for (Map.Entry<String, Bytes> file : spec.seedFiles().entrySet()) {
      sandbox
          .files()
          .write(
              file.getKey(),
              new ByteArrayInputStream(file.getValue().toArray()),
              WriteOptions.DEFAULT);
    }
    if (spec.init().isPresent()) {
      init(sandbox, spec, spec.init().get(), remaining.get());
    }
  }

  private static void init(Sandbox sandbox, SandboxSpec spec, Command init, Duration remaining) {
    Duration time =
        init.timeout().filter(timeout -> timeout.compareTo(remaining) < 0).orElse(remaining);
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

  /**
   * The output may contain secrets, so it goes into the context for the client, not into the
   * message, which is stored.
   */
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
