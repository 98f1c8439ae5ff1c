package dev.isola.host.image;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * An external program that does part of the work. It inherits the environment, which may configure
 * its registries, proxies and credentials.
 *
 * @param install the Debian package of the program
 * @param progress receives its error output
 * @param remedy what the operator can do if it fails
 */
record ExternalTool(
    String program, String install, Duration timeout, Consumer<String> progress, String remedy) {
  private static final int KEPT_LINES = 4;
  private static final int MAX_LINE_LENGTH = 1000;

  ExternalTool(String program, String install, Duration timeout, Consumer<String> progress) {
    this(program, install, timeout, progress, "fix the problem, then try again");
  }

  /** Consumes the output of a program. */
  interface OutputReader {
    void read(InputStream out) throws IOException;
  }

  /** Finds a program, including those in folders for root. */
  static Optional<Path> find(String program) {
    String path = System.getenv().getOrDefault("PATH", "/usr/bin:/bin") + ":/usr/sbin:/sbin";
    for (String folder : path.split(":")) {
      Path file = Path.of(folder.isEmpty() ? "." : folder, program);
      if (Files.isRegularFile(file) && Files.isExecutable(file)) {
        return Optional.of(file.toAbsolutePath());
      }
    }
    return Optional.empty();
  }

  /** Runs the program and discards its standard output; throws if it fails. */
  void run(List<String> arguments) throws IOException {
    run(arguments, out -> out.transferTo(OutputStream.nullOutputStream()));
  }

  /**
   * Runs the program; throws if it fails.
   *
   * @throws dev.isola.spi.error.ProviderUnavailable if it is not installed, or with its last error
   *     output
   * @throws dev.isola.spi.error.DeadlineExceeded if it times out
   */
  void run(List<String> arguments, OutputReader output) throws IOException {
    List<String> words = new ArrayList<>();
    words.add(find(program).orElseThrow(this::missing).toString());
    words.addAll(arguments);
    ProcessBuilder builder = new ProcessBuilder(words);
    builder.redirectInput(Path.of("/dev/null").toFile());
    builder.environment().put("LC_ALL", "C.UTF-8");
    builder.environment().merge("PATH", "/usr/sbin:/sbin", (path, more) -> path + ":" + more);
    Process process = builder.start();
    Thread hook = new Thread(() -> terminate(process), "isola-end-" + program);
    Runtime.getRuntime().addShutdownHook(hook);
    Deque<String> lastLines = new ArrayDeque<>();
    AtomicBoolean timeoutExpired = new AtomicBoolean();
    Thread listener =
        Thread.ofVirtual().start(() -> readErrors(process.getErrorStream(), lastLines));
    Thread watchdog = Thread.ofVirtual().start(() -> watch(process, timeoutExpired));
    try {
      output.read(process.getInputStream());
      int status = process.waitFor();
      listener.join();
      if (status != 0) {
        throw timeoutExpired.get() ? timedOut() : failed(status, lastLines);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Fault.of(ErrorCode.CANCELLED, program + " was interrupted", "").exception(e);
    } catch (SandboxException e) {
      if (e.code() == ErrorCode.BAD_ARCHIVE && timeoutExpired.get()) {
        throw timedOut();
      }
      if (e.code() == ErrorCode.BAD_ARCHIVE) {
        throwIfToolFailed(process, listener, lastLines);
      }
      throw e;
    } finally {
      terminate(process);
      watchdog.interrupt();
      removeHook(hook);
    }
  }

  private static void removeHook(Thread hook) {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException ending) {
      // The JVM is shutting down and runs the hook.
    }
  }

  /** Prefers the error of a program that died over that of its truncated output. */
  private void throwIfToolFailed(Process process, Thread listener, Deque<String> lastLines) {
    try {
      boolean ended = process.waitFor(2, TimeUnit.SECONDS);
      if (ended && process.exitValue() != 0 && listener.join(Duration.ofSeconds(2))) {
        throw failed(process.exitValue(), lastLines);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void watch(Process process, AtomicBoolean timeoutExpired) {
    try {
      if (!process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
        timeoutExpired.set(true);
        terminate(process);
      }
    } catch (InterruptedException ended) {
      // The program has ended.
    }
  }

  /** Sends SIGTERM first, so that a tool can undo its mounts. */
  private static void terminate(Process process) {
    if (!process.isAlive()) {
      return;
    }
    process.descendants().forEach(ProcessHandle::destroy);
    process.destroy();
    try {
      if (process.waitFor(10, TimeUnit.SECONDS)) {
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }

  private void readErrors(InputStream errors, Deque<String> lastLines) {
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(errors, StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        String text = line.strip();
        if (text.isEmpty()) {
          continue;
        }
        text = text.substring(0, Math.min(text.length(), MAX_LINE_LENGTH));
        progress.accept(text);
        lastLines.addLast(text);
        if (lastLines.size() > KEPT_LINES) {
          lastLines.removeFirst();
        }
      }
    } catch (IOException ended) {
      // The process has ended.
    }
  }

  private SandboxException missing() {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "this needs the program " + program + ", which is not installed",
            "install it (apt-get install " + install + ")")
        .exception();
  }

  private SandboxException timedOut() {
    return Fault.of(
            ErrorCode.DEADLINE_EXCEEDED,
            program + " timed out after " + timeout.toMinutes() + " minutes",
            "check the network, then try again")
        .exception();
  }

  private SandboxException failed(int status, Deque<String> lastLines) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            program
                + " failed: "
                + (lastLines.isEmpty() ? "exit code " + status : String.join(" | ", lastLines)),
            remedy + "; -v shows its full output")
        .exception();
  }
}
