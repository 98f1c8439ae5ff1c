package dev.isola.host.image;

import dev.isola.link.local.TreeRemoval;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.HexFormat;

/**
 * A folder beside the images in which one is being made, or from which one is being removed. It is
 * locked while its process lives; what a crash left is found unlocked by the next and removed.
 */
final class ImageStagingFolder implements AutoCloseable {
  private static final String PREFIX = ".draft-";
  private static final SecureRandom RANDOM = new SecureRandom();

  private final Path folder;
  private final int descriptor;

  /** Of the image that was exchanged for it; -1 for none. */
  private int exchanged = -1;

  private ImageStagingFolder(Path folder, int descriptor) {
    this.folder = folder;
    this.descriptor = descriptor;
  }

  /** Makes an empty one, after clearing away what crashes left. */
  static ImageStagingFolder create(Path images) throws IOException {
    sweep(images);
    while (true) {
      Path folder = newPath(images);
      Files.createDirectory(
          folder,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      try {
        int descriptor = NativeFiles.openFolder(folder);
        // Somebody may have swept it between the two calls; then it has no name any more.
        if (NativeSystem.lock(descriptor) && NativeFiles.stat(descriptor).links() > 0) {
          return new ImageStagingFolder(folder, descriptor);
        }
        NativeFiles.close(descriptor);
      } catch (NativeException swept) {
        if (swept.errno() != NativeException.ENOENT) {
          throw swept;
        }
      }
    }
  }

  /** Takes an image away from its name, so that nobody finds it any more; it is not gone yet. */
  static ImageStagingFolder detach(Path image) throws IOException {
    int descriptor = NativeFiles.openFolder(image);
    boolean moved = false;
    try {
      lock(descriptor, image);
      Path folder = newPath(image.resolveSibling(""));
      Files.move(image, folder, StandardCopyOption.ATOMIC_MOVE);
      moved = true;
      return new ImageStagingFolder(folder, descriptor);
    } finally {
      if (!moved) {
        NativeFiles.close(descriptor);
      }
    }
  }

  private static void lock(int descriptor, Path image) throws IOException {
    if (!NativeSystem.lock(descriptor)) {
      throw Fault.of(
              ErrorCode.CONFLICT,
              "the image " + image.getFileName() + " is being made or removed",
              "wait until that is done")
          .exception();
    }
  }

  private static Path newPath(Path images) {
    byte[] random = new byte[8];
    RANDOM.nextBytes(random);
    return images.resolve(PREFIX + HexFormat.of().formatHex(random));
  }

  Path folder() {
    return folder;
  }

  /** Brings everything in it to the disk. */
  void sync() throws IOException {
    NativeSystem.sync(descriptor);
  }

  /** Gives it its name; an image that has it is not replaced. */
  void moveTo(Path image) throws IOException {
    try {
      Files.move(folder, image, StandardCopyOption.ATOMIC_MOVE);
    } catch (AtomicMoveNotSupportedException e) {
      throw new IOException(image + " is on another file system", e);
    }
  }

  /** Exchanges it with an image at once: there is no moment in which the name has none. */
  void exchange(Path image) throws IOException {
    exchanged = NativeFiles.openFolder(image);
    lock(exchanged, image);
    swap(image);
  }

  /** Exchanges them again; of two such calls nothing is left. */
  void swap(Path image) throws IOException {
    int images = NativeFiles.openFolder(image.resolveSibling(""));
    try {
      NativeSystem.exchange(
          images, folder.getFileName().toString(), image.getFileName().toString());
    } finally {
      NativeFiles.close(images);
    }
  }

  private static void sweep(Path images) throws IOException {
    try (DirectoryStream<Path> left = Files.newDirectoryStream(images, PREFIX + "*")) {
      for (Path folder : left) {
        try {
          int descriptor = NativeFiles.openFolder(folder);
          try {
            if (NativeSystem.lock(descriptor)) {
              TreeRemoval.remove(folder);
            }
          } finally {
            NativeFiles.close(descriptor);
          }
        } catch (IOException stuck) {
          // gone meanwhile, or not ours to remove; either way no reason to stop
        }
      }
    }
  }

  /** Removes what still has the draft's name. */
  @Override
  public void close() throws IOException {
    try {
      if (Files.exists(folder)) {
        TreeRemoval.remove(folder);
      }
    } finally {
      NativeFiles.close(descriptor);
      if (exchanged >= 0) {
        NativeFiles.close(exchanged);
      }
    }
  }
}
