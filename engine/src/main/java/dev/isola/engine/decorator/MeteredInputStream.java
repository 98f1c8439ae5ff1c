package dev.isola.engine.decorator;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/** Counts the bytes read. On the first close, reports the count and whether all reads succeeded. */
public final class MeteredInputStream extends FilterInputStream {
  /** Receives the result when the stream is closed. */
  public interface CloseListener {
    void closed(long bytes, boolean succeeded);
  }

  private final CloseListener end;
  private long bytes;
  private boolean succeeded = true;
  private boolean closed;

  public MeteredInputStream(InputStream inner, CloseListener end) {
    super(inner);
    this.end = end;
  }

  private interface ReadCall {
    long read() throws IOException;
  }

  private long counted(ReadCall reading) throws IOException {
    boolean done = false;
    try {
      long count = reading.read();
      bytes += Math.max(0, count);
      done = true;
      return count;
    } finally {
      succeeded &= done;
    }
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] buffer, int from, int length) throws IOException {
    return (int) counted(() -> in.read(buffer, from, length));
  }

  @Override
  public long skip(long count) throws IOException {
    return in.skip(count);
  }

  /** Delegates, so that the stream can transfer without copying through this one. */
  @Override
  public long transferTo(OutputStream out) throws IOException {
    return counted(() -> in.transferTo(out));
  }

  @Override
  public void close() throws IOException {
    try {
      in.close();
    } finally {
      if (!closed) {
        closed = true;
        end.closed(bytes, succeeded);
      }
    }
  }

  public long bytes() {
    return bytes;
  }
}
