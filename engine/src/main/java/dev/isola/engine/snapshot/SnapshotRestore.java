package dev.isola.engine.snapshot;

import dev.isola.snapshot.SnapshotArchives;
import dev.isola.snapshot.SnapshotReader;
import dev.isola.snapshot.manifest.Snapshot;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.capability.Snapshotting.Coverage;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.spec.SandboxSpec;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Restores the files of a snapshot into a new sandbox. */
record SnapshotRestore(
    SnapshotReader reader,
    SandboxSpec spec,
    Sandbox sandbox,
    Snapshotting snapshotting,
    TimeLimit time) {

  /**
   * Restores the files.
   *
   * @param force whether to allow an image other than the one that the changes are based on
   */
  void run(boolean force) {
    Optional<Snapshot.SnapshotCoverage> coverage = reader.snapshot().coverage();
    if (coverage.isEmpty()) {
      empty(sandbox.files(), reader.snapshot().root());
      snapshotting.restore(
          reader.snapshot().root(),
          time.wrap(SnapshotArchives.archive(reader)),
          TreeLimits.DEFAULT);
      return;
    }
    List<String> folders = coverage.get().folders();
    if (coverage.get().imageDigest().isPresent()) {
      if (!force) {
        refuseUnlessSameImage(coverage.get().imageDigest().get());
      }
      snapshotting.restoreChanges(
          time.wrap(
              SnapshotArchives.archiveExcluding(
                  reader, folders.stream().map(SnapshotRestore::inside).toList())),
          TreeLimits.DEFAULT);
    }
    folders.stream().filter(this::shouldRestore).forEach(this::restore);
  }

  private static String inside(String folder) {
    return folder.substring(1);
  }

  /** Rejects a different image, because changes only apply to the image that they are based on. */
  private void refuseUnlessSameImage(String digest) {
    Optional<String> here = snapshotting.coverage().flatMap(Coverage::image);
    if (here.equals(Optional.of(digest))) {
      return;
    }
    String image = reader.snapshot().image().orElse("");
    throw Fault.of(
            ErrorCode.CONFLICT,
            "snapshot "
                + reader.snapshot().id()
                + " contains changes to image "
                + image
                + " with digest "
                + digest
                + ", but the sandbox has "
                + here.map(other -> "digest " + other).orElse("an image whose digest is unknown"),
            "restore that image, or apply the changes to the current image with image snapshot:"
                + reader.snapshot().id()
                + "+force")
        .sandbox(sandbox.id())
        .with("snapshot", reader.snapshot().id())
        .with("digest", digest)
        .exception();
  }

  /**
   * Returns whether to restore a folder. Volumes keep their content, and a folder that was empty is
   * restored only if it belongs to the sandbox.
   */
  private boolean shouldRestore(String folder) {
    boolean volume =
        spec.volumes().stream()
            .anyMatch(
                one ->
                    folder.equals(one.destination()) || folder.startsWith(one.destination() + "/"));
    boolean own =
        folder.equals(spec.workspaceMount())
            || snapshotting.coverage().filter(all -> all.folders().contains(folder)).isPresent();
    return !volume && (own || SnapshotArchives.hasEntriesIn(reader, inside(folder)));
  }

  private void restore(String folder) {
    empty(sandbox.files(), folder);
    snapshotting.restore(
        folder,
        time.wrap(SnapshotArchives.archiveFolder(reader, inside(folder))),
        TreeLimits.DEFAULT);
  }

  /** Removes files that come from the image and are not in the snapshot. */
  private static void empty(FileSystem files, String folder) {
    if (files.exists(folder)) {
      try (Stream<FileInfo> brought = files.list(folder, 1)) {
        brought.toList().forEach(one -> files.remove(one.path(), true));
      }
    }
  }
}
