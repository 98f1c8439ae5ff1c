package dev.isola.store;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Exclusive ownership of a folder, held through a file lock. The kernel releases the lock when the
 * process ends for any reason. The lock file stays: if it were removed, two processes could each
 * lock a different file of the same name.
 */
final class FolderLock implements AutoCloseable {
  private static final String NAME = "ledger.lock";

  /**
   * The folders that this process has locked. A second channel must not even be opened on a locked
   * file, because closing it would release the lock of the first channel.
   */
  private static final Set<Path> LOCKED = ConcurrentHashMap.newKeySet();

  private final Path folder;
  private final FileChannel channel;

  private FolderLock(Path folder, FileChannel channel) {
    this.folder = folder;
    this.channel = channel;
  }

  /**
   * Creates the folder if it is missing, and locks it.
   *
   * @throws dev.isola.spi.error.Conflict if another owner holds the lock
   */
  static FolderLock acquire(Path requested) {
    Path folder = createFolder(requested);
    long pid = ProcessHandle.current().pid();
    if (!LOCKED.add(folder)) {
      throw refused(folder, Long.toString(pid));
    }
    boolean taken = false;
    try {
      FileChannel channel =
          FileChannel.open(
              folder.resolve(NAME),
              Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE),
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      try {
        if (channel.tryLock() == null) {
          throw refused(folder, owner(channel));
        }
        // In this order it needs no new space, unless the file is empty.
        channel.truncate(channel.write(US_ASCII.encode(pid + "\n"), 0));
        taken = true;
        return new FolderLock(folder, channel);
      } finally {
        if (!taken) {
          channel.close();
        }
      }
    } catch (IOException e) {
      throw unusable(folder, e);
    } finally {
      if (!taken) {
        LOCKED.remove(folder);
      }
    }
  }

  /** Returns the pid of the current owner of a folder, without creating or locking anything. */
  static Optional<String> owner(Path requested) {
    try {
      Path folder = requested.toRealPath();
      if (LOCKED.contains(folder)) {
        return Optional.of(Long.toString(ProcessHandle.current().pid()));
      }
      try (FileChannel channel =
          FileChannel.open(
              folder.resolve(NAME), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
        return channel.tryLock() == null ? Optional.of(owner(channel)) : Optional.empty();
      }
    } catch (NoSuchFileException none) {
      return Optional.empty();
    } catch (IOException e) {
      throw unusable(requested, e);
    }
  }

  /** Returns the folder with symbolic links resolved. */
  Path folder() {
    return folder;
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw unusable(folder, e);
    } finally {
      LOCKED.remove(folder);
    }
  }

  private static Path createFolder(Path folder) {
    try {
      Files.createDirectories(
          folder,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      return folder.toRealPath();
    } catch (IOException e) {
      throw unusable(folder, e);
    }
  }

  private static String owner(FileChannel channel) throws IOException {
    ByteBuffer content = ByteBuffer.allocate(20);
    channel.read(content, 0);
    String pid = US_ASCII.decode(content.flip()).toString().strip();
    return pid.matches("[0-9]+") ? pid : "unknown";
  }

  private static SandboxException refused(Path folder, String pid) {
    return Fault.of(
            ErrorCode.CONFLICT,
            "the folder " + folder + " is in use by another Isola server, pid " + pid,
            "stop the other server, or use another folder for this one")
        .with("pid", pid)
        .exception();
  }

  private static SandboxException unusable(Path folder, IOException cause) {
    return Fault.of(
            cause instanceof AccessDeniedException
                ? ErrorCode.PERMISSION_DENIED
                : ErrorCode.PROVIDER_UNAVAILABLE,
            "the folder " + folder + " cannot be used for the ledger: " + cause,
            "use a folder that the server's user can write to")
        .exception(cause);
  }
}
