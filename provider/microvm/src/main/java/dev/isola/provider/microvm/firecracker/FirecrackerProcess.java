package dev.isola.provider.microvm.firecracker;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * A Firecracker process of this server that is not a sandbox: it boots a template, or shows that
 * machines boot here. It ends when it is closed.
 */
final class FirecrackerProcess implements AutoCloseable {
  private static final Duration END_TIMEOUT = Duration.ofSeconds(5);

  /** The end of what the process and its guest print. */
  private static final int MAX_OUTPUT = 1000;

  private final Process process;
  private final Thread reader;
  private volatile String output = "";

  private FirecrackerProcess(Process process) {
    this.process = process;
    this.reader = Thread.ofVirtual().name("firecracker-output").start(this::readOutput);
  }

  /**
   * Starts a process and waits until its API can be called.
   *
   * @throws IOException if it ends or does not listen in time, with what it printed
   */
  static FirecrackerProcess start(FirecrackerCommand command, Duration timeout) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command.words()).redirectErrorStream(true);
    builder.directory(command.folder().path().toFile());
    builder.redirectInput(Path.of("/dev/null").toFile());
    builder.environment().clear();
    FirecrackerProcess started = new FirecrackerProcess(builder.start());
    try {
      started.awaitReady(command.folder().api(), timeout);
      return started;
    } catch (IOException e) {
      started.close();
      throw e;
    }
  }

  private void awaitReady(Path socket, Duration timeout) throws IOException {
    try {
      new FirecrackerApi(socket).awaitReady(process::isAlive, timeout);
    } catch (IOException e) {
      throw process.isAlive() ? e : new IOException(e.getMessage() + ": " + end(), e);
    }
  }

  /** Keeps the end of the output; a guest may print without end. */
  private void readOutput() {
    byte[] piece = new byte[4096];
    try (InputStream in = process.getInputStream()) {
      for (int n = in.read(piece); n >= 0; n = in.read(piece)) {
        String all = output + new String(piece, 0, n, UTF_8);
        output = all.substring(Math.max(0, all.length() - MAX_OUTPUT));
      }
    } catch (IOException e) {
      output = output + " (its output cannot be read: " + e.getMessage() + ")";
    }
  }

  /** Returns how the process ended and what it printed last. */
  private String end() {
    try {
      if (!reader.join(END_TIMEOUT)) {
        return "it exited with code " + process.exitValue();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return "it exited with code "
        + process.exitValue()
        + ", after printing: "
        + output.replaceAll("\\p{Cntrl}+", " ").strip();
  }

  long pid() {
    return process.pid();
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** Kills the process and waits for its end. */
  @Override
  public void close() throws IOException {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
    try {
      if (!process.waitFor(END_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new IOException("Firecracker process " + process.pid() + " could not be killed");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while Firecracker ended", e);
    }
  }
}
