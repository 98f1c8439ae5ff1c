package dev.isola.link;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * DATA frames as an input stream. A failure of the sandbox throws a {@link
 * dev.isola.spi.error.SandboxException}; closing early cancels the stream.
 */
final class DataFrameInputStream extends InputStream {
  static final int WINDOW = 4 * 1024 * 1024;

  private static final int PIECE = 64 * 1024;
  private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);

  private final LinkStream stream;
  private final Duration timeout;

  /** Held by the one reader: a released buffer may already belong to another connection. */
  private final Semaphore reading = new Semaphore(1);

  private @Nullable Frame frame;
  private ByteBuffer content = EMPTY;
  private boolean ended;
  private byte @Nullable [] result;
  private volatile boolean closed;

  private DataFrameInputStream(LinkStream stream, Duration timeout) {
    this.stream = stream;
    this.timeout = timeout;
  }

  /** Waits for the first content, so that a refusal is thrown here and not while reading. */
  static DataFrameInputStream open(LinkStream stream, Duration timeout) {
    DataFrameInputStream input = new DataFrameInputStream(stream, timeout);
    input.fetch();
    return input;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, bytes.length);
    if (length == 0 && !closed) {
      return 0;
    }
    reading.acquireUninterruptibly();
    try {
      if (!hasContent()) {
        return -1;
      }
      int count = Math.min(length, content.remaining());
      content.get(bytes, offset, count);
      return count;
    } finally {
      endRead();
    }
  }

  /** Passes on whole frames, one write each; writes to a file without an extra copy. */
  @Override
  public long transferTo(OutputStream out) throws IOException {
    Sink sink = Sink.of(out);
    long moved = 0;
    reading.acquireUninterruptibly();
    try {
      while (hasContent()) {
        moved += content.remaining();
        sink.write(content);
      }
      return moved;
    } finally {
      endRead();
    }
  }

  @Override
  public int available() {
    return content.remaining();
  }

  @Override
  public void close() {
    closed = true;
    stream.cancelAndDiscard();
    releaseIfIdle();
  }

  /** Releases the current frame, unless a reader is active, which then releases it. */
  private void releaseIfIdle() {
    if (reading.tryAcquire()) {
      release();
      reading.release();
    }
  }

  private void endRead() {
    reading.release();
    if (closed) {
      releaseIfIdle();
    }
  }

  /**
   * Returns the fields of END.
   *
   * @throws IllegalStateException when the end was not reached
   */
  WireFields result() {
    if (result == null) {
      throw new IllegalStateException("the stream was not read to its end");
    }
    try {
      return WireFields.parse(result);
    } catch (ProtocolViolation e) {
      throw stream.protocolViolation(e.getMessage());
    }
  }

  /** Waits for content. Returns false at the end. */
  private boolean hasContent() throws IOException {
    if (closed) {
      throw new IOException("the stream is closed");
    }
    if (!content.hasRemaining()) {
      fetch();
    }
    return content.hasRemaining();
  }

  private void fetch() {
    release();
    while (!ended && frame == null) {
      Frame next = stream.nextOrFail(timeout);
      switch (next.type()) {
        case Wire.DATA -> {
          frame = next;
          content = next.content();
        }
        case Wire.END -> {
          ended = true;
          result = next.payload();
        }
        case Wire.ERROR -> throw stream.error(next).exception(stream.connection().id());
        default -> {
          // EOF, which END follows, or RESPONSE.
        }
      }
    }
  }

  private void release() {
    content = EMPTY;
    if (frame != null) {
      frame.release();
      frame = null;
    }
  }

  /** Destination of the content. */
  private interface Sink {
    void write(ByteBuffer content) throws IOException;

    static Sink of(OutputStream out) {
      // A subclass may override write(), which writing to the channel would bypass.
      if (out.getClass() == FileOutputStream.class) {
        FileChannel channel = ((FileOutputStream) out).getChannel();
        return content -> {
          // In pieces, as cp does: larger writes need larger contiguous kernel allocations, which
          // are scarce.
          int end = content.limit();
          while (content.position() < end) {
            channel.write(content.limit(Math.min(end, content.position() + PIECE)));
          }
        };
      }
      byte[] piece = new byte[PIECE];
      return content -> {
        while (content.hasRemaining()) {
          int count = Math.min(PIECE, content.remaining());
          content.get(piece, 0, count);
          out.write(piece, 0, count);
        }
      };
    }
  }
}
