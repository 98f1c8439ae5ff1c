package dev.isola.snapshot.manifest;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/**
 * Data that is read once and replayed several times: small data in memory, large data in an
 * unlinked file, which disappears with the process.
 */
public final class Spool implements AutoCloseable {
  public static final int IN_MEMORY = 1 << 20;

  private static final int BUFFER = 64 << 10;

  private final byte[] head;
  private final Optional<FileChannel> file;

  private Spool(byte[] head, Optional<FileChannel> file) {
    this.head = head;
    this.file = file;
  }

  /**
   * Reads a stream to its end.
   *
   * @throws dev.isola.spi.error.LimitExceeded if there are more than {@code max} bytes
   */
  public static Spool of(InputStream in, Path scratch, long max) throws IOException {
    byte[] head = in.readNBytes(IN_MEMORY);
    if (head.length < IN_MEMORY) {
      return new Spool(head, Optional.empty());
    }
    Files.createDirectories(scratch);
    Path name = Files.createTempFile(scratch, "spool", ".tmp");
    FileChannel file = FileChannel.open(name, StandardOpenOption.READ, StandardOpenOption.WRITE);
    try {
      Files.delete(name);
      ByteBuffer first = ByteBuffer.wrap(head);
      while (first.hasRemaining()) {
        file.write(first);
      }
      byte[] more = new byte[BUFFER];
      for (int n = in.read(more); n >= 0; n = in.read(more)) {
        ByteBuffer next = ByteBuffer.wrap(more, 0, n);
        while (next.hasRemaining()) {
          file.write(next);
        }
        if (file.position() > max) {
          throw Fault.of(
                  ErrorCode.RESOURCE_LIMIT,
                  "the data exceeds " + max + " bytes",
                  "remove files, or raise the disk limit of the sandbox")
              .exception();
        }
      }
      return new Spool(new byte[0], Optional.of(file));
    } catch (IOException | RuntimeException e) {
      file.close();
      throw e;
    }
  }

  /** Returns a stream of all data. */
  public InputStream read() {
    return file.<InputStream>map(PositionedInputStream::new)
        .orElseGet(() -> new ByteArrayInputStream(head));
  }

  /** Reads a file at its own position, independently of other readers. */
  private static final class PositionedInputStream extends InputStream {
    private final FileChannel file;
    private long at;

    private PositionedInputStream(FileChannel file) {
      this.file = file;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] to, int offset, int length) throws IOException {
      if (length == 0) {
        return 0;
      }
      int n = file.read(ByteBuffer.wrap(to, offset, length), at);
      at += Math.max(n, 0);
      return n;
    }
  }

  @Override
  public void close() {
    if (file.isPresent()) {
      try {
        file.get().close();
      } catch (IOException gone) {
        // The file is already unlinked.
      }
    }
  }
}
