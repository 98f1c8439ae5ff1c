package dev.isola.server.content;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Execution;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/**
 * Writes to the stdin of an attached execution. Discards its output in the meantime, because an
 * attached command blocks unless its output is read.
 */
public final class StdinAttachment implements AutoCloseable {
  private final OutputStream in;
  private final Thread reader;

  public StdinAttachment(Execution execution) {
    in = execution.stdin();
    reader = Thread.ofVirtual().name("isola-drain").start(() -> drain(execution));
  }

  /**
   * Writes all of {@code content} to the stdin of an execution.
   *
   * @param close whether to close stdin afterwards
   */
  public static void writeAll(Execution execution, InputStream content, boolean close)
      throws IOException {
    try (StdinAttachment attachment = new StdinAttachment(execution)) {
      attachment.write(content);
      if (close) {
        attachment.closeStdin();
      }
    }
  }

  public void write(InputStream content) throws IOException {
    copy(content, in);
    in.flush();
  }

  /** Closes stdin. */
  public void closeStdin() throws IOException {
    in.close();
  }

  /** Stops reading output. The caller closes the execution. */
  @Override
  public void close() {
    reader.interrupt();
  }

  private static void drain(Execution execution) {
    try {
      while (execution.read().isPresent()) {
        // Discard.
      }
    } catch (SandboxException e) {
      // The writer reports the error.
    }
  }

  private static void copy(InputStream content, OutputStream in) throws IOException {
    byte[] buffer = new byte[16 * 1024];
    for (int read = content.read(buffer); read >= 0; read = content.read(buffer)) {
      try {
        in.write(buffer, 0, read);
      } catch (IOException e) {
        throw Fault.of(
                ErrorCode.ILLEGAL_STATE,
                "the execution accepts no input: it has ended or closed its stdin",
                "check the state of the execution")
            .exception(e);
      }
    }
  }
}
