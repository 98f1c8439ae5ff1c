package dev.isola.engine.snapshot;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Limits how long archives are read in all. A single read that waits is ended by its stream; a
 * sandbox that keeps sending little must not occupy the snapshot store either.
 */
public final class TimeLimit {
  private static final Duration DEFAULT = Duration.ofMinutes(30);

  private final String what;
  private final Duration limit;
  private final LongSupplier nanoTime;
  private final long begin;

  /**
   * Starts now.
   *
   * @param what what is read, for the message
   */
  public TimeLimit(String what) {
    this(what, System::nanoTime);
  }

  public TimeLimit(String what, LongSupplier nanoTime) {
    this(what, DEFAULT, nanoTime);
  }

  public TimeLimit(String what, Duration limit, LongSupplier nanoTime) {
    this.what = what;
    this.limit = limit;
    this.nanoTime = nanoTime;
    this.begin = nanoTime.getAsLong();
  }

  /**
   * Returns the same content, of which nothing can be read after the limit.
   *
   * @return a stream that throws {@link dev.isola.spi.error.DeadlineExceeded} then
   */
  public InputStream wrap(InputStream content) {
    return new FilterInputStream(content) {
      @Override
      public int read() throws IOException {
        check();
        return super.read();
      }

      @Override
      public int read(byte[] to, int offset, int length) throws IOException {
        check();
        return super.read(to, offset, length);
      }
    };
  }

  private void check() {
    if (nanoTime.getAsLong() - begin > limit.toNanos()) {
      throw Fault.of(
              ErrorCode.DEADLINE_EXCEEDED,
              what + " were not read within " + limit.toMinutes() + " min",
              "remove or exclude files, and try again")
          .exception();
    }
  }
}
