package dev.isola.link;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * DATA frames as an input stream. A failure of the sandbox is a {@link
 * dev.isola.spi.error.SandboxException}; closing early cancels.
 */
final class DataInput extends InputStream {
  static final int WINDOW = 4 * 1024 * 1024;

  private final LinkStream stream;
  private final Duration patience;
  private @Nullable Frame frame;
  private int at;
  private boolean ended;
  private volatile boolean closed;

  private DataInput(LinkStream stream, Duration patience) {
    this.stream = stream;
    this.patience = patience;
  }

  /** Starts with the first content, so that a refusal is thrown here and not while reading. */
  static DataInput open(LinkStream stream, Duration patience) {
    DataInput input = new DataInput(stream, patience);
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
    Frame now = openFrame();
    if (now == null) {
      return -1;
    }
    int count = Math.min(length, now.payload().length - at);
    System.arraycopy(now.payload(), at, bytes, offset, count);
    at += count;
    return count;
  }

  /** Hands on whole frames: no copy in between, and no more writes than frames. */
  @Override
  public long transferTo(OutputStream out) throws IOException {
    long moved = 0;
    for (Frame now = openFrame(); now != null; now = openFrame()) {
      int from = at;
      at = now.payload().length;
      out.write(now.payload(), from, at - from);
      moved += at - from;
    }
    return moved;
  }

  @Override
  public int available() {
    Frame now = frame;
    return now == null ? 0 : now.payload().length - at;
  }

  @Override
  public void close() {
    closed = true;
    stream.cancel();
  }

  private @Nullable Frame openFrame() throws IOException {
    if (closed) {
      throw new IOException("the stream is closed");
    }
    return current();
  }

  /** Returns the frame that has bytes left; null at the end. */
  private @Nullable Frame current() {
    Frame now = frame;
    if (now != null && at < now.payload().length) {
      return now;
    }
    return fetch();
  }

  private @Nullable Frame fetch() {
    frame = null;
    at = 0;
    while (!ended && frame == null) {
      Frame next = stream.nextOrFail(patience);
      switch (next.type()) {
        case Wire.DATA -> frame = next;
        case Wire.END -> ended = true;
        case Wire.ERROR -> throw stream.error(next).exception(stream.connection().id());
        default -> {
          // EOF, which END follows, or the head of the answer.
        }
      }
    }
    return frame;
  }
}
