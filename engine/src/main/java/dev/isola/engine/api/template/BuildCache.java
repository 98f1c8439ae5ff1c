package dev.isola.engine.api.template;

import dev.isola.engine.api.SnapshotRequest;
import dev.isola.engine.api.snapshot.SnapshotService;
import dev.isola.snapshot.chunk.ChunkStore.GarbageStats;
import dev.isola.snapshot.manifest.Snapshot;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.error.NotFound;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Caches the file system after each build step, as snapshots tagged with the key of the step. The
 * modification time of a file named after the snapshot records its last use.
 *
 * @param folder the folder of these files
 */
record BuildCache(SnapshotService snapshots, Path folder, InstantSource clock) {
  static final String TAG = "isola.build.key";

  /**
   * A cached state to start a build from.
   *
   * @param steps the number of steps that are already done
   */
  record Hit(String snapshot, int steps) {}

  /** Returns the cached state that covers the most steps with these keys. */
  Optional<Hit> find(List<String> keys) {
    List<Snapshot> cached = cached().toList();
    for (int steps = keys.size(); steps > 0; steps--) {
      String key = keys.get(steps - 1);
      Optional<Snapshot> found =
          cached.reversed().stream().filter(one -> key.equals(one.tags().get(TAG))).findFirst();
      if (found.isPresent()) {
        touch(found.get().id());
        return Optional.of(new Hit(found.get().id(), steps));
      }
    }
    return Optional.empty();
  }

  /** Returns whether the provider can report everything that a sandbox wrote. */
  static boolean canSave(Sandbox sandbox) {
    return sandbox.as(Snapshotting.class).flatMap(Snapshotting::coverage).isPresent();
  }

  /** Saves the current files of a sandbox. */
  void save(SandboxId sandbox, String key) {
    touch(
        snapshots
            .create(sandbox, SnapshotRequest.EVERYTHING.withTags(Map.of(TAG, key)))
            .snapshot()
            .id());
  }

  void remove(String snapshot) {
    try {
      snapshots.remove(snapshot);
    } catch (NotFound already) {
      // a client removed it
    }
    try {
      Files.deleteIfExists(folder.resolve(snapshot));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Removes the snapshots that no build has used since {@code moment}; returns their number. */
  int removeUnusedSince(Instant moment) {
    List<String> unused =
        cached().filter(one -> lastUsed(one).isBefore(moment)).map(Snapshot::id).toList();
    unused.forEach(this::remove);
    if (!unused.isEmpty()) {
      GarbageStats _ = snapshots.collect();
    }
    return unused.size();
  }

  private Stream<Snapshot> cached() {
    return snapshots.list().stream().filter(one -> one.tags().containsKey(TAG));
  }

  private Instant lastUsed(Snapshot snapshot) {
    try {
      return Files.getLastModifiedTime(folder.resolve(snapshot.id())).toInstant();
    } catch (IOException unknown) {
      return snapshot.createdAt();
    }
  }

  private void touch(String snapshot) {
    try {
      PrivateFolder.create(folder);
      Path file = folder.resolve(snapshot);
      if (!Files.exists(file)) {
        Files.createFile(file);
      }
      Files.setLastModifiedTime(file, FileTime.from(clock.instant()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
