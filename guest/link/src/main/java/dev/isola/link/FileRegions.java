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
  private static final int MIN_REGION = 64 * 1024;

  /** Regions in flight; enough that the writing thread never waits for the next one. */
  private static final int MAX_IN_FLIGHT = 8;

  private static final Duration RELEASE_TIMEOUT = Duration.ofSeconds(5);

  private final FileChannel file;
  private final Semaphore free = new Semaphore(MAX_IN_FLIGHT);
  private volatile @Nullable IOException failure;

  FileRegions(FileChannel file) {
    this.file = file;
  }

  /**
   * Returns the next region and advances the file position past it.
   *
   * @return null when little is left or the size is unknown, so that the caller reads the rest
   */
  @Nullable FileRegion next(int max) throws IOException, InterruptedException {
    check();
    // Files without a known size or position report 0.
    long size = file.size();
    if (size < MIN_REGION || max < MIN_REGION) {
      return null;
    }
    long position = file.position();
    if (size - position < MIN_REGION) {
      return null;
    }
    int count = (int) Math.min(max, size - position);
    file.position(position + count);
    free.acquire();
    return new FileRegion(file, position, count, this::released);
  }

  int read(ByteBuffer block) throws IOException {
    return file.read(block);
  }

  /** Waits until no region uses the file. Returns false after {@code timeout}. */
  boolean await(Duration timeout) throws InterruptedException {
    boolean all = free.tryAcquire(MAX_IN_FLIGHT, timeout.toNanos(), TimeUnit.NANOSECONDS);
    if (all) {
      free.release(MAX_IN_FLIGHT);
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
      await(RELEASE_TIMEOUT);
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
    IOException error = failure;
    if (error != null) {
      throw new IOException(error.getMessage(), error);
    }
  }

  private void released(@Nullable IOException error) {
    if (error != null) {
      failure = error;
    }
    free.release();
  }
}
