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
 * A folder next to the images in which an image is assembled or removed. It is locked while its
 * process lives; a later call finds what a crash left behind unlocked and removes it.
 */
final class ImageStagingFolder implements AutoCloseable {
  private static final String PREFIX = ".draft-";
  private static final SecureRandom RANDOM = new SecureRandom();

  private final Path folder;
  private final int descriptor;

  /** Descriptor of the image that was exchanged for this folder; -1 for none. */
  private int exchanged = -1;

  private ImageStagingFolder(Path folder, int descriptor) {
    this.folder = folder;
    this.descriptor = descriptor;
  }

  /** Creates an empty staging folder after removing stale ones. */
  static ImageStagingFolder create(Path images) throws IOException {
    sweep(images);
    while (true) {
      Path folder = newPath(images);
      Files.createDirectory(
          folder,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      try {
        int descriptor = NativeFiles.openFolder(folder);
        // Another process may have removed the folder between the two calls; then its link count is
        // zero.
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

  /** Moves an image to a staging folder, so that it can no longer be found; closing removes it. */
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
              "the image "
                  + ImageName.ofFolder(image.getFileName().toString())
                  + " is being created or removed",
              "try again later")
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

  /** Flushes the content to the disk. */
  void sync() throws IOException {
    NativeSystem.sync(descriptor);
  }

  /** Moves the folder to the name of the image; does not replace an existing image. */
  void moveTo(Path image) throws IOException {
    try {
      Files.move(folder, image, StandardCopyOption.ATOMIC_MOVE);
    } catch (AtomicMoveNotSupportedException e) {
      throw new IOException(image + " is on another file system", e);
    }
  }

  /** Atomically exchanges the folder with an existing image. */
  void exchange(Path image) throws IOException {
    exchanged = NativeFiles.openFolder(image);
    lock(exchanged, image);
    swap(image);
  }

  /** Exchanges both again; a second call reverts the first. */
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
          // Already gone, or not removable by this user.
        }
      }
    }
  }

  /** Removes what is still in the staging folder. */
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
