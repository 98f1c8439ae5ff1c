package dev.isola.server.content;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Execution;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/**
 * Input for an execution that somebody attached to for nothing else. Its output is read and thrown
 * away meanwhile: a command that is attached to is held back unless its output is read.
 */
public final class StdinAttachment implements AutoCloseable {
  private final OutputStream in;
  private final Thread reader;

  public StdinAttachment(Execution execution) {
    in = execution.stdin();
    reader = Thread.ofVirtual().name("isola-drain").start(() -> drain(execution));
  }

  /**
   * Writes all of {@code content} to its input.
   *
   * @param close end of file after that
   */
  public static void writeAll(Execution execution, InputStream content, boolean close)
      throws IOException {
    try (StdinAttachment feeding = new StdinAttachment(execution)) {
      feeding.write(content);
      if (close) {
        feeding.closeStdin();
      }
    }
  }

  public void write(InputStream content) throws IOException {
    copy(content, in);
    in.flush();
  }

  /** Is end of file for the command. */
  public void closeStdin() throws IOException {
    in.close();
  }

  /** Stops to read; the execution is the caller's to close. */
  @Override
  public void close() {
    reader.interrupt();
  }

  private static void drain(Execution execution) {
    try {
      while (execution.read().isPresent()) {
        // Whoever wants it follows it.
      }
    } catch (SandboxException e) {
      // The input was written, or cannot be: whoever writes it finds out.
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
                "the execution takes no input: it has ended or closed it",
                "look at how it ended")
            .exception(e);
      }
    }
  }
}
