package dev.isola.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.snapshot.blob.BlobStore;
import dev.isola.snapshot.blob.FolderBlobStore;
import dev.isola.snapshot.manifest.Snapshot;
import dev.isola.snapshot.manifest.SnapshotEntry;
import dev.isola.spi.error.Conflict;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;

/** Creates stores and snapshots for tests. */
public final class SnapshotFixtures {
  private SnapshotFixtures() {}

  /** Opens a store with all of its parts in one folder. */
  static SnapshotStore open(Path folder) {
    return SnapshotStore.open(new FolderBlobStore(folder.resolve("store")), folder.resolve("work"));
  }

  static Snapshot take(SnapshotStore store, String id, Map<String, byte[]> files) {
    try (SnapshotWriter taking = store.newWriter()) {
      files.forEach((name, bytes) -> taking.add(plain(name), new ByteArrayInputStream(bytes)));
      return finish(taking, id);
    }
  }

  static Snapshot finish(SnapshotWriter taking, String id) {
    return taking.finish(
        counts ->
            new Snapshot(
                id,
                Instant.parse("2026-01-02T03:04:05.678901Z"),
                "sandbox1",
                "memory",
                "1",
                "amd64",
                Map.of("k", "v"),
                Optional.empty(),
                "/workspace",
                List.of(),
                List.of("*.tmp"),
                counts.files(),
                counts.bytes(),
                counts.newBytes(),
                counts.storedBytes(),
                counts.checksum()));
  }

  static SnapshotEntry plain(String path) {
    return new SnapshotEntry(
        path, SnapshotEntry.Kind.FILE, "", 0644, 0, 0, 0, 0, 0, Map.of(), List.of());
  }

  /** Returns incompressible bytes. */
  static byte[] noise(int length, long seed) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  /** Returns all files below a folder, sorted. */
  static List<Path> files(Path folder) throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      return all.filter(Files::isRegularFile).sorted().toList();
    }
  }

  static long size(Path folder) throws IOException {
    long size = 0;
    for (Path file : files(folder)) {
      size += Files.size(file);
    }
    return size;
  }

  /** Opens the same blob store each time. */
  @FunctionalInterface
  public interface BlobStoreSupplier {
    BlobStore open() throws IOException;
  }

  /** Captures, reads, removes and collects snapshots, and verifies that nothing remains. */
  public static void fillAndEmpty(BlobStoreSupplier location, Path folder) throws IOException {
    Path work = folder.resolve("store-work");
    Map<String, byte[]> files =
        Map.of("a", noise(3_000_000, 1), "b", noise(10, 2), "c", noise(700_000, 3));
    try (SnapshotStore store = SnapshotStore.open(location.open(), work)) {
      take(store, "one", files);
      take(store, "two", Map.of("c", noise(700_000, 3), "d", noise(900_000, 4)));
    }
    try (SnapshotStore store = SnapshotStore.open(location.open(), work)) {
      assertThat(store.verify()).isEmpty();
      assertThat(store.list()).extracting(Snapshot::id).containsExactly("one", "two");
      try (SnapshotReader one = store.open("one")) {
        for (SnapshotEntry entry : one.entries()) {
          assertThat(one.content(entry).readAllBytes()).isEqualTo(files.get(entry.path()));
        }
      }
      assertThatThrownBy(() -> take(store, "two", Map.of("x", noise(5, 5))))
          .isInstanceOf(Conflict.class);
      store.remove("one");
      assertThat(store.collectGarbage().bytes()).isGreaterThan(2_900_000);
      store.open("two").close();
      store.remove("two");
      store.collectGarbage();
    }
    BlobStore left = location.open();
    assertThat(left.list("packs")).isEmpty();
    assertThat(left.list("snapshots")).isEmpty();
  }
}
