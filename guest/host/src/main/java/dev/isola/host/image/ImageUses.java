package dev.isola.host.image;

import dev.isola.spi.SandboxId;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Which sandboxes stand on an image: {@code used-by/SANDBOX}, holding the sandbox's folder. A mark
 * whose sandbox has no folder any more was left by a crash and does not count.
 */
final class ImageUses {
  private static final String FOLDER = "used-by";

  static void make(Path image) throws IOException {
    Files.createDirectory(image.resolve(FOLDER));
  }

  void add(Path image, SandboxId sandbox, Path sandboxFolder) throws IOException {
    Path marks = image.resolve(FOLDER);
    if (!Files.isDirectory(marks)) {
      Files.createDirectory(marks);
    }
    Files.writeString(marks.resolve(sandbox.value()), sandboxFolder.toAbsolutePath().toString());
  }

  void remove(Path image, SandboxId sandbox) throws IOException {
    Files.deleteIfExists(image.resolve(FOLDER).resolve(sandbox.value()));
  }

  /** Returns the ids of the sandboxes that stand on an image. */
  List<String> of(Path image) throws IOException {
    List<String> ids = new ArrayList<>();
    try (DirectoryStream<Path> marks = Files.newDirectoryStream(image.resolve(FOLDER))) {
      for (Path mark : marks) {
        if (stands(mark)) {
          ids.add(mark.getFileName().toString());
        }
      }
    } catch (NoSuchFileException none) {
      return List.of();
    }
    ids.sort(null);
    return ids;
  }

  private static boolean stands(Path mark) throws IOException {
    try {
      String folder = Files.readString(mark);
      // Empty: it is being written.
      return folder.isEmpty() || Files.isDirectory(Path.of(folder));
    } catch (NoSuchFileException released) {
      return false;
    }
  }
}
