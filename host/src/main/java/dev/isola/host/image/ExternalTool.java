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
 * A program of this machine that does part of the work. It gets the caller's environment: where its
 * registries, proxies and credentials are is between the two of them.
 *
 * @param install the package that has it
 * @param progress is told what it says on the way
 * @param remedy what to do when it fails
 */
record ExternalTool(
    String program, String install, Duration timeout, Consumer<String> progress, String remedy) {
  private static final int LAST_LINES = 4;
  private static final int LONGEST_LINE = 1000;

  ExternalTool(String program, String install, Duration patience, Consumer<String> progress) {
    this(program, install, patience, progress, "correct that, then try again");
  }

  /** Takes what a program writes. */
  interface OutputReader {
    void read(InputStream out) throws IOException;
  }

  /** Finds a program, also where only root's are. */
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

  /** Runs it; it must succeed. What it writes to standard output is thrown away. */
  void run(List<String> arguments) throws IOException {
    run(arguments, out -> out.transferTo(OutputStream.nullOutputStream()));
  }

  /**
   * Runs it; it must succeed.
   *
   * @throws dev.isola.spi.error.ProviderUnavailable when it is not there, or with the last it said
   * @throws dev.isola.spi.error.DeadlineExceeded when it takes too long
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
    Deque<String> last = new ArrayDeque<>();
    AtomicBoolean late = new AtomicBoolean();
    Thread listener = Thread.ofVirtual().start(() -> readErrors(process.getErrorStream(), last));
    Thread watchdog = Thread.ofVirtual().start(() -> watch(process, late));
    try {
      output.read(process.getInputStream());
      int status = process.waitFor();
      listener.join();
      if (status != 0) {
        throw late.get() ? timedOut() : failed(status, last);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Fault.of(ErrorCode.CANCELLED, program + " was interrupted", "").exception(e);
    } catch (SandboxException e) {
      if (e.code() == ErrorCode.BAD_ARCHIVE && late.get()) {
        throw timedOut();
      }
      if (e.code() == ErrorCode.BAD_ARCHIVE) {
        throwIfToolFailed(process, listener, last);
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
      // the hook is at work
    }
  }

  /** Where a program died in the middle, what it says itself is nearer to the cause. */
  private void throwIfToolFailed(Process process, Thread listener, Deque<String> last) {
    try {
      boolean ended = process.waitFor(2, TimeUnit.SECONDS);
      if (ended && process.exitValue() != 0 && listener.join(Duration.ofSeconds(2))) {
        throw failed(process.exitValue(), last);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void watch(Process process, AtomicBoolean late) {
    try {
      if (!process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
        late.set(true);
        terminate(process);
      }
    } catch (InterruptedException ended) {
      // nothing left to watch
    }
  }

  /** Asks first: a tool that has mounted something takes it away again. */
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

  private void readErrors(InputStream errors, Deque<String> last) {
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(errors, StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        String text = line.strip();
        if (text.isEmpty()) {
          continue;
        }
        text = text.substring(0, Math.min(text.length(), LONGEST_LINE));
        progress.accept(text);
        last.addLast(text);
        if (last.size() > LAST_LINES) {
          last.removeFirst();
        }
      }
    } catch (IOException ended) {
      // with the process
    }
  }

  private SandboxException missing() {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "this needs the program " + program + ", which is not here",
            "install it (apt-get install " + install + ")")
        .exception();
  }

  private SandboxException timedOut() {
    return Fault.of(
            ErrorCode.DEADLINE_EXCEEDED,
            program + " was ended after " + timeout.toMinutes() + " minutes",
            "look at the network, then try again")
        .exception();
  }

  private SandboxException failed(int status, Deque<String> last) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            program
                + " failed: "
                + (last.isEmpty() ? "status " + status : String.join(" | ", last)),
            remedy + "; -v shows all it says")
        .exception();
  }
}
