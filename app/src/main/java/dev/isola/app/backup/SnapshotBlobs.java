package dev.isola.app.backup;

import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigKeys;
import java.io.IOException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The files of a snapshot store in a folder: manifests in {@code snapshots} and the packs that they
 * refer to. All files are immutable and complete.
 */
record SnapshotBlobs(Path folder) {
  private static final String MANIFESTS = "snapshots";
  private static final String PACKS = "packs";

  /** Returns the configured store; empty if it is a bucket. */
  static Optional<SnapshotBlobs> of(Config config) {
    String place = config.get(ConfigKeys.SNAPSHOTS_PLACE);
    if (place.isEmpty()) {
      return Optional.of(
          new SnapshotBlobs(config.get(ConfigKeys.DATA).resolve("snapshots").resolve("store")));
    }
    return place.startsWith("s3:")
        ? Optional.empty()
        : Optional.of(new SnapshotBlobs(Path.of(place)));
  }

  long count() throws IOException {
    return list(folder.resolve(MANIFESTS)).size();
  }

  /**
   * Links or copies a consistent state to another folder while a server uses the store. Manifests
   * come first, so that the packs of every manifest are found later. A garbage collection may move
   * chunks to a new pack before it removes the old one, so the packs are listed until nothing
   * changes. A manifest that was removed meanwhile is dropped, because its packs may be gone.
   */
  void copyTo(Path target) throws IOException {
    copyAll(MANIFESTS, target);
    while (copyAll(PACKS, target)) {
      // Packs were added or removed meanwhile.
    }
    for (Path manifest : list(target.resolve(MANIFESTS))) {
      if (!Files.exists(folder.resolve(MANIFESTS).resolve(manifest.getFileName()))) {
        Files.delete(manifest);
      }
    }
  }

  /** Returns whether a file was added or had disappeared. */
  private boolean copyAll(String kind, Path target) throws IOException {
    Path to = Files.createDirectories(target.resolve(kind));
    boolean changed = false;
    for (Path blob : list(folder.resolve(kind))) {
      Path copy = to.resolve(blob.getFileName());
      if (!Files.exists(copy)) {
        changed = true;
        try {
          linkOrCopy(blob, copy);
        } catch (NoSuchFileException removed) {
          // The next listing has its successor.
        }
      }
    }
    return changed;
  }

  private static void linkOrCopy(Path blob, Path copy) throws IOException {
    try {
      Files.createLink(copy, blob);
    } catch (NoSuchFileException removed) {
      throw removed;
    } catch (FileSystemException | UnsupportedOperationException otherFileSystem) {
      Files.copy(blob, copy, StandardCopyOption.COPY_ATTRIBUTES);
    }
  }

  /** Adds the files of another folder that this store does not have: packs first. */
  void add(Path source) throws IOException {
    for (String kind : List.of(PACKS, MANIFESTS)) {
      Path to = folder.resolve(kind);
      for (Path blob : list(source.resolve(kind))) {
        Files.createDirectories(to);
        Path target = to.resolve(blob.getFileName());
        if (!Files.exists(target)) {
          move(blob, target);
        }
      }
    }
  }

  private static void move(Path blob, Path target) throws IOException {
    try {
      Files.move(blob, target, StandardCopyOption.ATOMIC_MOVE);
    } catch (AtomicMoveNotSupportedException otherFileSystem) {
      Path part = target.resolveSibling("." + target.getFileName() + ".part");
      Files.copy(blob, part, StandardCopyOption.REPLACE_EXISTING);
      Files.move(part, target, StandardCopyOption.ATOMIC_MOVE);
    }
  }

  private static List<Path> list(Path folder) throws IOException {
    List<Path> files = new ArrayList<>();
    try (DirectoryStream<Path> found = Files.newDirectoryStream(folder, Files::isRegularFile)) {
      found.forEach(files::add);
    } catch (NoSuchFileException none) {
      return List.of();
    }
    return files;
  }
}
