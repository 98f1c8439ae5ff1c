package dev.isola.provider.subprocess;

import dev.isola.codec.process.ProgramRun;
import dev.isola.codec.process.ProgramTimeoutException;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Runs git in one folder. Does not run hooks or helpers of the repository, because a sandbox may
 * have written them.
 */
record Git(Path folder, Duration timeout) {
  private static final Duration DEFAULT_TIMEOUT = Duration.ofMinutes(2);
  private static final int MAX_OUTPUT = 1 << 20;

  Git(Path folder) {
    this(folder, DEFAULT_TIMEOUT);
  }

  /** Exit status and output of git. */
  record GitResult(int status, String text) {
    boolean ok() {
      return status == 0;
    }
  }

  /**
   * Runs git and returns its output.
   *
   * @throws SandboxException when git fails
   */
  String run(String... arguments) {
    GitResult answer = tryRun(arguments);
    if (!answer.ok()) {
      throw failed(String.join(" ", arguments), answer.text().strip(), null);
    }
    return answer.text().strip();
  }

  GitResult tryRun(String... arguments) {
    List<String> command =
        new ArrayList<>(
            List.of(
                "git",
                "-C",
                folder.toString(),
                "-c",
                "safe.directory=*",
                "-c",
                "core.hooksPath=/dev/null",
                "-c",
                "core.fsmonitor=false"));
    command.addAll(List.of(arguments));
    return run(ProgramRun.of(command).environment(Git::setEnvironment), arguments);
  }

  private static void setEnvironment(Map<String, String> environment) {
    String path = environment.getOrDefault("PATH", "/usr/bin:/bin");
    environment.clear();
    environment.put("PATH", path);
    environment.put("LC_ALL", "C");
    environment.put("GIT_TERMINAL_PROMPT", "0");
  }

  private GitResult run(ProgramRun git, String[] arguments) {
    String command = String.join(" ", arguments);
    try {
      ProgramRun.Result result = git.maxOutput(MAX_OUTPUT).run(timeout);
      if (!result.complete()) {
        throw failed(command, "its output was not closed", null);
      }
      return new GitResult(result.code(), result.output());
    } catch (ProgramTimeoutException e) {
      throw failed(command, "it did not exit within " + timeout.toSeconds() + " s", e);
    } catch (InterruptedIOException e) {
      throw Fault.of(ErrorCode.CANCELLED, "git " + command + " was interrupted", "").exception(e);
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "git cannot be run: " + e.getMessage(),
              "install git (apt-get install git)")
          .exception(e);
    }
  }

  private SandboxException failed(
      String command, String reason, @org.jspecify.annotations.Nullable Throwable cause) {
    return Fault.of(
            ErrorCode.SPAWN_FAILED,
            "git " + command + " failed in " + folder + ": " + reason,
            "check the repository and the ref")
        .exception(cause);
  }
}
