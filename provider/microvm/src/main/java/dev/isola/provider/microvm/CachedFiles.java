package dev.isola.provider.microvm;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Files that are expensive to make and follow from their names. Each is made once, also if several
 * processes need it at the same time, and appears when it is complete.
 */
public final class CachedFiles {
  private static final String UNFINISHED = ".unfinished";
  private static final FileAttribute<?> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  /** Longer than any creation of a sandbox. */
  private static final Duration IN_USE = Duration.ofMinutes(10);

  /** File locks belong to the process, so that its threads need another lock. */
  private static final Map<Path, ReentrantLock> LOCKS = new ConcurrentHashMap<>();

  private final Path folder;

  public CachedFiles(Path folder) {
    this.folder = folder.toAbsolutePath();
  }

  /** Makes a file. */
  public interface Maker {
    void make(Path target) throws IOException;
  }

  /** Returns a file, which is made if it does not exist. */
  public Path get(String name, Maker maker) throws IOException {
    Path file = folder.resolve(name);
    if (!touch(file)) {
      make(file, maker);
    }
    return file;
  }

  private static boolean touch(Path file) throws IOException {
    try {
      Files.setLastModifiedTime(file, FileTime.from(Instant.now()));
      return true;
    } catch (NoSuchFileException absent) {
      return false;
    }
  }

  private void make(Path file, Maker maker) throws IOException {
    Files.createDirectories(folder, OWNER_ONLY);
    ReentrantLock lock = LOCKS.computeIfAbsent(file, _ -> new ReentrantLock());
    lock.lock();
    try (FileChannel channel =
            FileChannel.open(lockFile(file), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock _ = channel.lock()) {
      if (touch(file)) {
        return;
      }
      Path unfinished = folder.resolve(file.getFileName() + UNFINISHED);
      remove(unfinished); // left behind by a killed process
      try {
        maker.make(unfinished);
        Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);
      } catch (IOException | RuntimeException e) {
        remove(unfinished);
        throw e;
      }
    } finally {
      lock.unlock();
    }
  }

  /** Removes files that killed processes have left unfinished. */
  public void removeAbandoned() throws IOException {
    if (!Files.isDirectory(folder)) {
      return;
    }
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*" + UNFINISHED)) {
      for (Path unfinished : files) {
        String name = unfinished.getFileName().toString();
        removeUnlessLocked(
            folder.resolve(name.substring(0, name.length() - UNFINISHED.length())), unfinished);
      }
    }
  }

  private void removeUnlessLocked(Path file, Path unfinished) throws IOException {
    ReentrantLock lock = LOCKS.computeIfAbsent(file, _ -> new ReentrantLock());
    if (!lock.tryLock()) {
      return;
    }
    try (FileChannel channel =
            FileChannel.open(lockFile(file), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock held = channel.tryLock()) {
      if (held != null) {
        remove(unfinished);
      }
    } finally {
      lock.unlock();
    }
  }

  private Path lockFile(Path file) {
    return folder.resolve(file.getFileName() + ".lock");
  }

  /**
   * Removes all but the most recently used files whose names begin with a prefix. One that was used
   * a short time ago is kept, because its user may not have opened it yet.
   */
  public void retain(int count, String prefix) throws IOException {
    List<Path> found = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, prefix + "*")) {
      for (Path file : files) {
        String name = file.getFileName().toString();
        if (!name.endsWith(UNFINISHED) && !name.endsWith(".lock")) {
          found.add(file);
        }
      }
    }
    FileTime recent = FileTime.from(Instant.now().minus(IN_USE));
    found.sort(Comparator.comparing(CachedFiles::lastUse).reversed());
    for (Path file : found.subList(Math.min(count, found.size()), found.size())) {
      if (lastUse(file).compareTo(recent) < 0) {
        remove(file);
      }
    }
  }

  private static FileTime lastUse(Path file) {
    try {
      return Files.getLastModifiedTime(file);
    } catch (IOException gone) {
      return FileTime.fromMillis(0);
    }
  }

  /** Removes a file, or a folder without subfolders. */
  private static void remove(Path path) throws IOException {
    if (Files.isDirectory(path)) {
      try (DirectoryStream<Path> files = Files.newDirectoryStream(path)) {
        for (Path file : files) {
          Files.deleteIfExists(file);
        }
      }
    }
    Files.deleteIfExists(path);
  }
}
