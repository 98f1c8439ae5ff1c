package dev.isola.provider.http.client;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The content of a response as it arrives. A backend that sends nothing for a while is
 * disconnected; a reader that pauses is not.
 */
public final class BackendStream extends FilterInputStream {
  private static final Duration SILENCE = Duration.ofSeconds(60);
  private static final long NOT_READING = 0;

  private final Optional<String> header;
  private final AtomicLong readingSince = new AtomicLong(NOT_READING);
  private final Thread watch;

  BackendStream(InputStream content, Optional<String> header) {
    super(content);
    this.header = header;
    this.watch = Thread.ofVirtual().name("backend-stream-watch").start(this::disconnectIfSilent);
  }

  /** Returns the value of the header that the caller asked for. */
  public Optional<String> header() {
    return header;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    readingSince.set(System.nanoTime() | 1); // never 0
    try {
      return super.read(target, offset, length);
    } finally {
      readingSince.set(NOT_READING);
    }
  }

  private void disconnectIfSilent() {
    try {
      while (true) {
        Thread.sleep(SILENCE.dividedBy(4));
        long since = readingSince.get();
        if (since != NOT_READING && System.nanoTime() - since > SILENCE.toNanos()) {
          in.close();
          return;
        }
      }
    } catch (InterruptedException | IOException e) {
      // The stream was closed, which is the purpose of this thread.
    }
  }

  @Override
  public void close() throws IOException {
    watch.interrupt();
    super.close();
  }
}
