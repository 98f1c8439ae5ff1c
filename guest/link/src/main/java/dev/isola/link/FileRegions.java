package dev.isola.link;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Cuts the rest of a file into parts, and knows when all of them are done. */
final class FileRegions {
  /** A part from this size on costs less than reading it. */
  private static final int WORTH = 64 * 1024;

  /** Enough that the writing thread never waits for the next one. */
  private static final int UNDER_WAY = 8;

  private static final Duration SETTLING = Duration.ofSeconds(5);

  private final FileChannel file;
  private final Semaphore free = new Semaphore(UNDER_WAY);
  private volatile @Nullable IOException failure;

  FileRegions(FileChannel file) {
    this.file = file;
  }

  /**
   * Returns the next part, after which the file is read on behind it.
   *
   * @return null when so little is left, as far as it is known, that it is to be read
   */
  @Nullable FileRegion next(int most) throws IOException, InterruptedException {
    check();
    // Files that cannot tell their size, nor a position, say that it is 0.
    long size = file.size();
    if (size < WORTH || most < WORTH) {
      return null;
    }
    long position = file.position();
    if (size - position < WORTH) {
      return null;
    }
    int count = (int) Math.min(most, size - position);
    file.position(position + count);
    free.acquire();
    return new FileRegion(file, position, count, this::done);
  }

  int read(ByteBuffer block) throws IOException {
    return file.read(block);
  }

  /** Waits until nobody uses the file; false when that is not so after {@code patience}. */
  boolean await(Duration patience) throws InterruptedException {
    boolean all = free.tryAcquire(UNDER_WAY, patience.toNanos(), TimeUnit.NANOSECONDS);
    if (all) {
      free.release(UNDER_WAY);
    }
    return all;
  }

  /**
   * Gives an upload that has failed some time to let go of the file. The caller may close it then,
   * and what goes out of a closed file is zeros, which nobody ever wrote.
   */
  void awaitRelease() {
    boolean interrupted = Thread.interrupted();
    try {
      await(SETTLING);
    } catch (InterruptedException e) {
      interrupted = true;
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * @throws IOException when the file could not be read
   */
  void check() throws IOException {
    IOException known = failure;
    if (known != null) {
      throw new IOException(known.getMessage(), known);
    }
  }

  private void done(@Nullable IOException why) {
    if (why != null) {
      failure = why;
    }
    free.release();
  }
}
