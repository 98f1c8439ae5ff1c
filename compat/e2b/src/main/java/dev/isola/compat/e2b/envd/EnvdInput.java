package dev.isola.compat.e2b.envd;

import dev.isola.server.content.StdinAttachment;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionInfo;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.Optional;

/** Input from E2B's clients, for a terminal or for a process that was started with stdin. */
final class EnvdInput {
  private EnvdInput() {}

  /**
   * Returns the input in a message.
   *
   * @throws SandboxException when the process does not accept input of that kind
   */
  static byte[] of(ConnectMessage input, ExecutionInfo info) {
    Optional<byte[]> terminalInput = input.bytes("pty");
    boolean terminal = info.terminal().isPresent();
    if (terminalInput.isPresent() != terminal) {
      throw conflict(
          terminal
              ? "the process has a terminal: send pty instead of stdin"
              : "the process has no terminal: send stdin instead of pty");
    }
    if (!info.stdinOpen()) {
      throw closed();
    }
    return terminalInput
        .or(() -> input.bytes("stdin"))
        .orElseThrow(() -> ConnectMessage.invalid("the message contains neither stdin nor pty"));
  }

  static void write(Execution execution, byte[] bytes) throws IOException {
    try (StdinAttachment attachment = new StdinAttachment(execution)) {
      write(attachment, bytes);
    }
  }

  static void write(StdinAttachment attachment, byte[] bytes) throws IOException {
    try {
      attachment.write(new ByteArrayInputStream(bytes));
    } catch (SandboxException e) {
      // Reports the state of the process; clients would take ILLEGAL_STATE for the state of the
      // sandbox.
      throw e.code() == ErrorCode.ILLEGAL_STATE ? closed() : e;
    }
  }

  private static SandboxException closed() {
    return conflict("the process was started without stdin, or its stdin is closed");
  }

  private static SandboxException conflict(String what) {
    return Fault.of(ErrorCode.CONFLICT, what, "").exception();
  }
}
