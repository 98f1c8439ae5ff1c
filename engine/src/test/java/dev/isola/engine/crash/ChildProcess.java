package dev.isola.engine.crash;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.store.Failpoint;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** The parent's view of a child process: its input and output lines, and its exit. */
final class ChildProcess implements AutoCloseable {
  private static final String END = "";
  private final Process process;
  private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

  private ChildProcess(Process process) {
    this.process = process;
    Thread.ofPlatform().daemon().name("crash-child-reader").start(this::read);
  }

  /** Starts a class in a separate, minimal JVM. */
  static ChildProcess start(
      Class<?> main, Optional<String> failpoint, Path log, List<String> arguments) {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xmx192m",
                "-Dslf4j.internal.verbosity=ERROR"));
    failpoint.ifPresent(point -> command.add("-Disola.failpoint=" + point));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(arguments);
    try {
      File errors = log.toFile();
      return new ChildProcess(
          new ProcessBuilder(command)
              .redirectError(ProcessBuilder.Redirect.appendTo(errors))
              .start());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void read() {
    try (BufferedReader out =
        new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8))) {
      String line;
      while ((line = out.readLine()) != null) {
        lines.add(line);
      }
    } catch (IOException e) {
      lines.add("trouble pipe " + e);
    } finally {
      lines.add(END);
    }
  }

  /** Returns the next line; empty if the child has exited and all its output was read. */
  Optional<String> next(Duration timeout) throws InterruptedException {
    String line = null;
    // Polls once per second, so that a long stop of both processes counts as one second only.
    for (long second = 0; line == null && second < timeout.toSeconds(); second++) {
      line = lines.poll(1, TimeUnit.SECONDS);
    }
    if (line == null) {
      throw new AssertionError(
          "a child said nothing for "
              + timeout
              + ", alive "
              + process.isAlive()
              + "\n"
              + threads());
    }
    if (line.equals(END)) {
      lines.add(END); // for the next call
      return Optional.empty();
    }
    return Optional.of(line);
  }

  /** Returns a thread dump, to diagnose a silent child. */
  private String threads() throws InterruptedException {
    try {
      Path file = Files.createTempDirectory("isola-threads-").resolve("dump");
      try {
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                Long.toString(process.pid()),
                "Thread.dump_to_file",
                file.toString())
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start()
            .waitFor();
        return Files.exists(file) ? Files.readString(file) : "";
      } finally {
        Files.deleteIfExists(file);
        Files.delete(file.getParent());
      }
    } catch (IOException e) {
      return "its threads cannot be seen: " + e;
    }
  }

  /** Waits for its exit without reading; its output stays available. */
  boolean endsWithin(Duration time) throws InterruptedException {
    return process.waitFor(time.toNanos(), TimeUnit.NANOSECONDS);
  }

  void say(String line) {
    try {
      process.getOutputStream().write((line + "\n").getBytes(UTF_8));
      process.getOutputStream().flush();
    } catch (IOException e) {
      // It has exited; reading reports that.
    }
  }

  /**
   * Kills through the handle, because the process itself would close the pipe before it is drained.
   */
  void kill() {
    process.toHandle().destroyForcibly();
  }

  int status() throws InterruptedException {
    return process.waitFor();
  }

  boolean stoppedAtFailpoint() throws InterruptedException {
    return status() == Failpoint.STATUS;
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
