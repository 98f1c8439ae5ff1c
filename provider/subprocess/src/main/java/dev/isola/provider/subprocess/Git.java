package dev.isola.provider.subprocess;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Runs git in one folder. Does not run hooks or helpers of the repository, because a sandbox may
 * have written them.
 */
record Git(Path folder, Duration timeout) {
  private static final Duration DEFAULT_TIMEOUT = Duration.ofMinutes(2);
  private static final int LONGEST_ANSWER = 1 << 20;

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
  String run(String... words) {
    GitResult answer = tryRun(words);
    if (!answer.ok()) {
      throw failed(String.join(" ", words), answer.text().strip(), null);
    }
    return answer.text().strip();
  }

  GitResult tryRun(String... words) {
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
    command.addAll(List.of(words));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    Map<String, String> environment = builder.environment();
    String path = environment.getOrDefault("PATH", "/usr/bin:/bin");
    environment.clear();
    environment.put("PATH", path);
    environment.put("LC_ALL", "C");
    environment.put("GIT_TERMINAL_PROMPT", "0");
    return run(builder, words);
  }

  private GitResult run(ProcessBuilder builder, String[] words) {
    String what = String.join(" ", words);
    try {
      Process process = builder.start();
      try {
        process.getOutputStream().close();
        // In the background, so that a git without output cannot block past the deadline.
        FutureTask<byte[]> said =
            new FutureTask<>(() -> process.getInputStream().readNBytes(LONGEST_ANSWER));
        Thread.startVirtualThread(said);
        byte[] text = said.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
        if (!process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
          throw new TimeoutException();
        }
        return new GitResult(process.exitValue(), new String(text, StandardCharsets.UTF_8));
      } finally {
        process.destroyForcibly();
      }
    } catch (TimeoutException e) {
      throw failed(what, "it did not exit within " + timeout.toSeconds() + " s", e);
    } catch (ExecutionException e) {
      throw failed(what, "its output cannot be read: " + e.getCause(), e);
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "git cannot be run: " + e.getMessage(),
              "install git (apt-get install git)")
          .exception(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Fault.of(ErrorCode.CANCELLED, "git " + what + " was interrupted", "").exception(e);
    }
  }

  private SandboxException failed(
      String what, String why, @org.jspecify.annotations.Nullable Throwable cause) {
    return Fault.of(
            ErrorCode.SPAWN_FAILED,
            "git " + what + " failed in " + folder + ": " + why,
            "check the repository and the ref")
        .exception(cause);
  }
}
