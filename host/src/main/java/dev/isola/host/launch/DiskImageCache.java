package dev.isola.host.launch;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A cache of empty file system images, one per requested size. The launcher copies them, which
 * takes less than a millisecond; creating one takes twenty.
 */
public final class DiskImageCache {
  /** The number of images to keep. */
  private static final int MAX_IMAGES = 32;

  private static final String UNFINISHED = "unfinished";
  private static final FileAttribute<?> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private final Path folder;
  private final ReentrantLock lock = new ReentrantLock();

  /**
   * @param folder the folder of the cache
   */
  public DiskImageCache(Path folder) {
    this.folder = folder;
  }

  /** Returns the image of a size, creating it if necessary. */
  public Path of(DiskSize size) throws IOException {
    Path image = folder.resolve(size.name());
    return Files.exists(image) ? image : make(size, image);
  }

  private Path make(DiskSize size, Path image) throws IOException {
    Files.createDirectories(folder, OWNER_ONLY);
    lock.lock();
    try (FileChannel file =
            FileChannel.open(
                folder.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock _ = file.lock()) {
      if (!Files.exists(image)) {
        prune();
        write(size);
        Files.move(folder.resolve(UNFINISHED), image, StandardCopyOption.ATOMIC_MOVE);
      }
      return image;
    } finally {
      lock.unlock();
    }
  }

  private void write(DiskSize size) throws IOException {
    Path unfinished = folder.resolve(UNFINISHED);
    Files.deleteIfExists(unfinished); // left behind by a killed process
    try (RandomAccessFile file = new RandomAccessFile(unfinished.toFile(), "rw")) {
      file.setLength(size.bytes());
    }
    HostProgram program =
        HostProgram.find("mkfs.ext4")
            .orElseThrow(() -> new IOException("mkfs.ext4 is not installed (package e2fsprogs)"));
    HostProgram.Result answer = program.run(size.mkfsArguments(unfinished).toArray(String[]::new));
    if (!answer.ok()) {
      throw new IOException("mkfs.ext4 failed: " + answer.text());
    }
  }

  private void prune() throws IOException {
    List<Path> images = new ArrayList<>();
    try (DirectoryStream<Path> found = Files.newDirectoryStream(folder, "*.ext4")) {
      found.forEach(images::add);
    }
    images.sort(Comparator.comparing(DiskImageCache::modified));
    for (int i = 0; i + MAX_IMAGES <= images.size(); i++) {
      Files.deleteIfExists(images.get(i));
    }
  }

  private static FileTime modified(Path image) {
    try {
      return Files.getLastModifiedTime(image);
    } catch (IOException gone) {
      return FileTime.fromMillis(0);
    }
  }
}
