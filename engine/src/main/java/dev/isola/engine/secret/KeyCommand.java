package dev.isola.engine.secret;

import dev.isola.codec.process.ProgramRun;
import dev.isola.codec.process.ProgramTimeoutException;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.List;

/**
 * Runs a command that prints a key. Its standard error is part of an error, its standard output
 * never is.
 */
record KeyCommand(String command, Duration deadline) {
  static final Duration DEADLINE = Duration.ofSeconds(30);
  private static final int MAX_OUTPUT = 4096;
  private static final int MAX_SHOWN = 500;

  EncryptionKey run() {
    ProgramRun.Result result;
    try {
      result =
          ProgramRun.of(List.of("/bin/sh", "-c", command))
              .separateErrors()
              .maxOutput(MAX_OUTPUT + 1)
              .run(deadline);
    } catch (ProgramTimeoutException e) {
      throw failed("did not end within " + deadline.toSeconds() + " s");
    } catch (InterruptedIOException e) {
      throw failed("was interrupted");
    } catch (IOException e) {
      throw failed("cannot be started: " + e.getMessage());
    }
    if (!result.complete()) {
      throw failed("did not close its output within " + deadline.toSeconds() + " s");
    }
    if (!result.succeeded()) {
      throw failed("exited with " + result.code() + shown(result.errors()));
    }
    byte[] printed = result.outputBytes();
    if (printed.length > MAX_OUTPUT) {
      throw failed("printed more than " + MAX_OUTPUT + " bytes");
    }
    return KeyText.parse(printed, "the output of the command in secrets.key");
  }

  private static String shown(String errors) {
    String text = errors.replaceAll("[^\\P{Cntrl}\n]", "").strip();
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
