package dev.isola.compat.e2b.envd;

import dev.isola.server.content.Feeding;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionInfo;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.Optional;

/** Input as E2B's clients send it: to a terminal, or to a process that was started with input. */
final class Input {
  private Input() {}

  /**
   * Returns what a message has for a process.
   *
   * @throws SandboxException when the process takes none of that kind
   */
  static byte[] of(Message input, ExecutionInfo info) {
    Optional<byte[]> typed = input.bytes("pty");
    boolean terminal = info.terminal().isPresent();
    if (typed.isPresent() != terminal) {
      throw refused(
          terminal
              ? "the process is on a terminal: send it pty, and not stdin"
              : "the process is not on a terminal: send it stdin, and not pty");
    }
    if (!info.takesInput()) {
      throw closed();
    }
    return typed
        .or(() -> input.bytes("stdin"))
        .orElseThrow(() -> Message.refused("there is neither stdin nor pty"));
  }

  static void feed(Execution execution, byte[] bytes) throws IOException {
    try (Feeding feeding = new Feeding(execution)) {
      feed(feeding, bytes);
    }
  }

  static void feed(Feeding feeding, byte[] bytes) throws IOException {
    try {
      feeding.write(new ByteArrayInputStream(bytes));
    } catch (SandboxException e) {
      // Said of the process, and not of the sandbox as clients would take it.
      throw e.code() == ErrorCode.ILLEGAL_STATE ? closed() : e;
    }
  }

  private static SandboxException closed() {
    return refused("the process was started without input, or its input is closed");
  }

  private static SandboxException refused(String what) {
    return Fault.of(ErrorCode.CONFLICT, what, "").exception();
  }
}
