package dev.isola.link;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Splits the rest of a file into regions and tracks when all of them are released. */
final class FileRegions {
  /** Smallest region for which a transfer is cheaper than a read. */
  private static final int WORTH = 64 * 1024;

  /** Regions in flight; enough that the writing thread never waits for the next one. */
  private static final int UNDER_WAY = 8;

  private static final Duration SETTLING = Duration.ofSeconds(5);

  private final FileChannel file;
  private final Semaphore free = new Semaphore(UNDER_WAY);
  private volatile @Nullable IOException failure;

  FileRegions(FileChannel file) {
    this.file = file;
  }

  /**
   * Returns the next region and advances the file position past it.
   *
   * @return null when little is left or the size is unknown, so that the caller reads the rest
   */
  @Nullable FileRegion next(int most) throws IOException, InterruptedException {
    check();
    // Files without a known size or position report 0.
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

  /** Waits until no region uses the file. Returns false after {@code timeout}. */
  boolean await(Duration timeout) throws InterruptedException {
    boolean all = free.tryAcquire(UNDER_WAY, timeout.toNanos(), TimeUnit.NANOSECONDS);
    if (all) {
      free.release(UNDER_WAY);
    }
    return all;
  }

  /**
   * Gives the regions of a failed upload time to be released. The caller may close the file
   * afterwards, and regions of a closed file are sent as zeros.
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
   * Throws the error of a region, if any.
   *
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
