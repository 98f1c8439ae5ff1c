package dev.isola.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.codec.tar.TarEntry;
import dev.isola.codec.tar.TarStream;
import dev.isola.snapshot.SnapshotArchives.KnownFiles;
import dev.isola.snapshot.blob.FolderBlobStore;
import dev.isola.snapshot.failpoint.FailpointListener;
import dev.isola.snapshot.manifest.SnapshotEntry;
import dev.isola.spi.error.LimitExceeded;
import dev.isola.spi.error.ProviderUnavailable;
import dev.isola.spi.file.TreeLimits;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Second audit, findings 11 and 14: what one hostile tree may take of the store, and how long
 * others wait.
 */
@Timeout(600)
class StoreLimitsTest {
  private static final long TERABYTE = 1L << 40;

  @TempDir Path folder;

  private SnapshotStore open(StoreLimits limits) {
    return SnapshotStore.open(
        new FolderBlobStore(folder.resolve("store")),
        folder.resolve("work"),
        FailpointListener.NONE,
        limits);
  }

  @Test
  void waitsForOthersAreBounded() {
    try (SnapshotStore store = open(StoreLimits.DEFAULT.withSessions(2, Duration.ofMillis(1)))) {
      SnapshotFixtures.take(store, "one", Map.of("a", SnapshotFixtures.noise(1000, 1)));
      try (SnapshotWriter slow = store.newWriter()) {
        assertThat(slow).isNotNull();
        assertThatThrownBy(store::collectGarbage)
            .isInstanceOf(ProviderUnavailable.class)
            .hasMessageContaining("busy");
        // A restore has room while slow sandboxes are captured.
        assertThatThrownBy(store::newWriter).isInstanceOf(ProviderUnavailable.class);
        try (SnapshotReader reader = store.open("one")) {
          assertThat(reader.entries()).hasSize(1);
          assertThatThrownBy(() -> store.open("one")).isInstanceOf(ProviderUnavailable.class);
          assertThatThrownBy(store::verify).isInstanceOf(ProviderUnavailable.class);
          assertThatThrownBy(() -> store.difference("one", "one"))
              .isInstanceOf(ProviderUnavailable.class);
        }
      }
      assertThat(store.collectGarbage().packs()).isZero();
      store.newWriter().close();
    }
  }

  @Test
  void storeTellsThatWritersWait() throws Exception {
    try (SnapshotStore store = open(StoreLimits.DEFAULT.withSessions(2, Duration.ofMinutes(10)))) {
      Thread waiting;
      try (SnapshotWriter first = store.newWriter()) {
        assertThat(first).isNotNull();
        assertThat(store.isAwaited()).isFalse();
        waiting = Thread.ofVirtual().start(() -> store.newWriter().close());
        await().until(store::isAwaited);
      }
      waiting.join();
      assertThat(store.isAwaited()).isFalse();
    }
  }

  @Test
  void failedSessionsAreReturned() {
    try (SnapshotStore store = open(StoreLimits.DEFAULT.withSessions(2, Duration.ofMillis(1)))) {
      for (int i = 0; i < 5; i++) {
        assertThatThrownBy(() -> store.open("nosuch")).isInstanceOf(RuntimeException.class);
        assertThatThrownBy(() -> store.difference("nosuch", "one"))
            .isInstanceOf(RuntimeException.class);
        try (SnapshotWriter writer = store.newWriter()) {
          assertThatThrownBy(() -> read(writer, sparse(8 * TERABYTE)))
              .isInstanceOf(LimitExceeded.class);
        }
      }
    }
  }

  private static SnapshotArchives.ArchiveContents read(SnapshotWriter writer, InputStream archive) {
    return SnapshotArchives.readArchive(archive, writer, KnownFiles.NONE, TreeLimits.DEFAULT);
  }

  private static TarStream sparse(long size) {
    TarEntry entry = new TarEntry("huge", TarEntry.Kind.FILE, "", 0644, 0, 0, size, 0, 0, Map.of());
    InputStream unreadable =
        new InputStream() {
          @Override
          public int read() throws IOException {
            throw new IOException("a byte of the content was read");
          }

          @Override
          public int read(byte[] buffer, int offset, int length) throws IOException {
            return read();
          }
        };
    return archive(entry, unreadable);
  }

  /** The agent restores 64 of them, and a suspended sandbox must be resumable. */
  @Test
  void aFileThatCouldNotBeRestoredIsNotCaptured() {
    Map<String, byte[]> attributes = new HashMap<>();
    for (int i = 0; i < 65; i++) {
      attributes.put("user." + i, new byte[1]);
    }
    TarEntry entry = new TarEntry("many", TarEntry.Kind.FILE, "", 0644, 0, 0, 0, 0, 0, attributes);
    try (SnapshotStore store = open(StoreLimits.DEFAULT);
        SnapshotWriter writer = store.newWriter()) {
      assertThatThrownBy(() -> read(writer, archive(entry, InputStream.nullInputStream())))
          .isInstanceOf(LimitExceeded.class)
          .hasMessageContaining("64 attributes")
          .hasMessageContaining("many");
    }
  }

  /** A guest process can nest folders deeper than any path of the kernel. */
  @Test
  void aPathThatIsTooLongIsALimitAndNotABadArchive() {
    String longest = ("n".repeat(204) + "/").repeat(20).substring(0, 4095);
    try (SnapshotStore store = open(StoreLimits.DEFAULT);
        SnapshotWriter writer = store.newWriter()) {
      assertThat(read(writer, folder(longest)).entries().count()).isEqualTo(1);
      assertThatThrownBy(() -> read(writer, folder(longest + "n")))
          .isInstanceOf(LimitExceeded.class)
          .hasMessageContaining("a path of 4096 bytes")
          .hasMessageContaining("nnn");
    }
  }

  @Test
  void filesOfASnapshotAreLimitedTogether() {
    TarEntry file = new TarEntry("a", TarEntry.Kind.FILE, "", 0644, 0, 0, 1000, 0, 0, Map.of());
    TreeLimits limits = new TreeLimits(1999, 10);
    try (SnapshotStore store = open(StoreLimits.DEFAULT);
        SnapshotWriter writer = store.newWriter()) {
      TarStream two = new TarStream(Stream.of(item(file), item(file)).iterator());
      assertThatThrownBy(() -> SnapshotArchives.importArchive(two, writer, limits))
          .isInstanceOf(LimitExceeded.class)
          .hasMessageContaining("1999 bytes, holes included");
    }
  }

  private static TarStream.Item item(TarEntry entry) {
    return item(entry, new ByteArrayInputStream(new byte[(int) entry.size()]));
  }

  private static TarStream folder(String path) {
    TarEntry entry = new TarEntry(path, TarEntry.Kind.FOLDER, "", 0755, 0, 0, 0, 0, 0, Map.of());
    return archive(entry, InputStream.nullInputStream());
  }

  private static TarStream archive(TarEntry entry, InputStream content) {
    return new TarStream(List.of(item(entry, content)).iterator());
  }

  private static TarStream.Item item(TarEntry entry, InputStream content) {
    return new TarStream.Item() {
      @Override
      public TarEntry entry() {
        return entry;
      }

      @Override
      public InputStream content() {
        return content;
      }
    };
  }

  /** From a sandbox in which holes cannot be found. */
  @Test
  void aFileOfEightTerabytesIsRefusedBeforeAByteOfItIsRead() {
    try (SnapshotStore store = open(StoreLimits.DEFAULT);
        SnapshotWriter writer = store.newWriter()) {
      assertThatThrownBy(() -> read(writer, sparse(8 * TERABYTE)))
          .isInstanceOf(LimitExceeded.class)
          .hasMessageContaining("holes included")
          .hasMessageContaining("huge");
    }
  }

  @Test
  void namesAreLimitedForEachSnapshotAndForAll() {
    List<SnapshotEntry> entries =
        IntStream.range(0, 1000).mapToObj(i -> SnapshotFixtures.plain("f" + i)).toList();
    try (SnapshotStore store = open(StoreLimits.DEFAULT.withEntryBytes(30_000, 1 << 30));
        SnapshotWriter writer = store.newWriter()) {
      assertThatThrownBy(() -> entries.forEach(writer::add))
          .isInstanceOf(LimitExceeded.class)
          .hasMessageContaining("30000 bytes");
    }
    try (SnapshotStore store = open(StoreLimits.DEFAULT.withEntryBytes(1 << 20, 100_000))) {
      try (SnapshotWriter first = store.newWriter()) {
        entries.forEach(first::add);
        try (SnapshotWriter second = store.newWriter()) {
          assertThatThrownBy(() -> entries.forEach(second::add))
              .isInstanceOf(LimitExceeded.class)
              .hasMessageContaining("all snapshots in progress");
        }
      }
      // Both have returned what they took.
      try (SnapshotWriter third = store.newWriter()) {
        entries.forEach(third::add);
        assertThat(SnapshotFixtures.finish(third, "one").files()).isEqualTo(1000);
      }
    }
  }

  @Test
  void aFullIndexRefusesNewContentOnly() {
    int few = 64;
    try (SnapshotStore store = open(StoreLimits.DEFAULT.withMemory(few * 4L * 128))) {
      assertThatThrownBy(() -> takeSmallFiles(store, "many", 0, 1000))
          .isInstanceOf(LimitExceeded.class)
          .hasMessageContaining("half of the room in the index");
      assertThatThrownBy(() -> takeSmallFiles(store, "more", 0, few * 3 / 4))
          .isInstanceOf(LimitExceeded.class)
          .hasMessageContaining("half of the room in the index");
      // What a failed snapshot leaves is half at most, and others have room before it is collected.
      takeSmallFiles(store, "other", 1000, few / 8);
      store.collectGarbage();
      takeSmallFiles(store, "few", 0, few / 4);
      takeSmallFiles(store, "same", 0, few / 4);
      store.open("same").close();
    }
  }

  private static void takeSmallFiles(SnapshotStore store, String id, int first, int count) {
    try (SnapshotWriter writer = store.newWriter()) {
      for (int i = first; i < first + count; i++) {
        writer.add(
            SnapshotFixtures.plain("f" + i),
            new ByteArrayInputStream(SnapshotFixtures.noise(100, i)));
      }
      SnapshotFixtures.finish(writer, id);
    }
  }

  @Test
  void tooManyDifferencesAreRefused() {
    try (SnapshotStore store = open(StoreLimits.DEFAULT)) {
      SnapshotFixtures.take(store, "none", Map.of());
      try (SnapshotWriter writer = store.newWriter()) {
        for (int i = 0; i < 20_000; i++) {
          writer.add(SnapshotFixtures.plain(i + "/" + "n".repeat(1000)));
        }
        SnapshotFixtures.finish(writer, "many");
      }
      assertThatThrownBy(() -> store.difference("none", "many"))
          .isInstanceOf(LimitExceeded.class)
          .hasMessageContaining("too large to be compared");
      assertThat(store.difference("many", "many").changed()).isEmpty();
    }
  }
}
