package dev.isola.host.network;

import dev.isola.codec.time.Deadline;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A host-wide lock, so that the removal of the last sandbox does not delete rules that a new one
 * needs. It is held for milliseconds; the kernel releases it if the holder dies.
 */
final class HostLock implements AutoCloseable {
  private static final Path FILE = Path.of("/run/isola/network.lock");
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final Duration POLL_INTERVAL = Duration.ofMillis(1);
  private static final ReentrantLock PROCESS_LOCK = new ReentrantLock();

  private final FileChannel channel;

  private HostLock(FileChannel channel) {
    this.channel = channel;
  }

  static HostLock acquire() throws IOException {
    Deadline deadline = Deadline.in(TIMEOUT);
    try {
      if (!PROCESS_LOCK.tryLock(TIMEOUT.toNanos(), TimeUnit.NANOSECONDS)) {
        throw timedOut();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("waiting for " + FILE + " was interrupted", e);
    }
    try {
      return new HostLock(lockFile(deadline));
    } catch (IOException | RuntimeException e) {
      PROCESS_LOCK.unlock();
      throw e;
    }
  }

  private static FileChannel lockFile(Deadline deadline) throws IOException {
    try {
      Files.createDirectory(
          FILE.getParent(),
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    } catch (FileAlreadyExistsException there) {
      // Already exists.
    }
    FileChannel channel =
        FileChannel.open(FILE, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    try {
      FileLock lock = channel.tryLock();
      while (lock == null) {
        if (!deadline.pause(POLL_INTERVAL)) {
          throw timedOut();
        }
        lock = channel.tryLock();
      }
      return channel;
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  private static IOException timedOut() {
    return new IOException("another process has held " + FILE + " for more than " + TIMEOUT);
  }

  @Override
  public void close() throws IOException {
    try {
      channel.close();
    } finally {
      PROCESS_LOCK.unlock();
    }
  }
}
