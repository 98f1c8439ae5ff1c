package dev.isola.engine.secret;

import dev.isola.spi.error.SandboxException;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Runs a command that prints a key. Its standard error is part of an error, its standard output
 * never is.
 */
record KeyCommand(String command, Duration deadline) {
  static final Duration DEADLINE = Duration.ofSeconds(30);
  private static final int MAX_OUTPUT = 4096;
  private static final int MAX_SHOWN = 500;

  EncryptionKey run() {
    Process process;
    try {
      process =
          new ProcessBuilder("/bin/sh", "-c", command).redirectInput(new File("/dev/null")).start();
    } catch (IOException e) {
      throw failed("cannot be started: " + e.getMessage());
    }
    try {
      FutureTask<byte[]> output = reader(process.getInputStream());
      FutureTask<byte[]> errors = reader(process.getErrorStream());
      long end = System.nanoTime() + deadline.toNanos();
      if (!process.waitFor(deadline)) {
        throw failed("did not end within " + deadline.toSeconds() + " s");
      }
      byte[] printed = output.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
      if (process.exitValue() != 0) {
        byte[] said = errors.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
        throw failed("exited with " + process.exitValue() + shown(said));
      }
      if (printed.length > MAX_OUTPUT) {
        throw failed("printed more than " + MAX_OUTPUT + " bytes");
      }
      return KeyText.parse(printed, "the output of the command in secrets.key");
    } catch (TimeoutException e) {
      throw failed("did not close its output within " + deadline.toSeconds() + " s");
    } catch (ExecutionException e) {
      throw failed("could not be read: " + e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw failed("was interrupted");
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
  }

  /** Reads one byte more than is allowed, and discards the rest so that the command can end. */
  private static FutureTask<byte[]> reader(InputStream stream) {
    FutureTask<byte[]> task =
        new FutureTask<>(
            () -> {
              try (stream) {
                byte[] first = stream.readNBytes(MAX_OUTPUT + 1);
                stream.transferTo(OutputStream.nullOutputStream());
                return first;
              }
            });
    Thread.ofVirtual().name("isola-key-command").start(task);
    return task;
  }

  private static String shown(byte[] errors) {
    String text =
        new String(errors, StandardCharsets.UTF_8).replaceAll("[^\\P{Cntrl}\n]", "").strip();
    return text.isEmpty()
        ? ""
        : ": " + (text.length() > MAX_SHOWN ? text.substring(0, MAX_SHOWN) + "..." : text);
  }

  private static SandboxException failed(String why) {
    return KeyFault.of(
        "the command in secrets.key " + why,
        "run it in a shell as the user of the server; it must print the Base64 form of 32 bytes");
  }
}
