package dev.isola.snapshot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.snapshot.manifest.Snapshot;
import dev.isola.snapshot.manifest.SnapshotEntry;
import dev.isola.spi.error.InvalidRequest;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SparseTest {
  private static final long HUGE = 10L << 30;

  @TempDir Path folder;
  private SnapshotStore store;

  @BeforeEach
  void open() {
    store = SnapshotFixtures.open(folder);
  }

  @AfterEach
  void close() {
    store.close();
  }

  private static SnapshotEntry sparse(long size) {
    return new SnapshotEntry(
        "f", SnapshotEntry.Kind.FILE, "", 0644, 0, 0, size, 0, 0, Map.of(), List.of());
  }

  @Test
  void largeHoleTakesNoSpace() throws IOException {
    try (SnapshotWriter taking = store.newWriter()) {
      taking.add(
          sparse(HUGE),
          List.of(new Extent(0, 5), new Extent(HUGE / 2, 6)),
          new ByteArrayInputStream("firstmiddle".getBytes(UTF_8)));
      Snapshot snapshot = SnapshotFixtures.finish(taking, "one");
      assertThat(snapshot.bytes()).isEqualTo(HUGE);
      assertThat(snapshot.newBytes()).isEqualTo(11);
    }
    assertThat(SnapshotFixtures.size(folder.resolve("store"))).isLessThan(2_000);
    store.close();
    store = SnapshotFixtures.open(folder);
    try (SnapshotReader opened = store.open("one")) {
      SnapshotEntry file = opened.entries().iterator().next();
      assertThat(file.size()).isEqualTo(HUGE);
      assertThat(opened.extents(file)).containsExactly(new Extent(0, 5), new Extent(HUGE / 2, 6));
      assertThat(opened.data(file).readAllBytes()).isEqualTo("firstmiddle".getBytes(UTF_8));
      try (InputStream content = opened.content(file)) {
        assertThat(content.readNBytes(7)).isEqualTo("first\0\0".getBytes(UTF_8));
        content.skipNBytes(HUGE / 2 - 8);
        assertThat(content.readNBytes(8)).isEqualTo("\0middle\0".getBytes(UTF_8));
        content.skipNBytes(HUGE / 2 - 7);
        assertThat(content.read()).isEqualTo(-1);
      }
    }
    assertThat(store.collectGarbage().packs()).isZero();
    store.remove("one");
    assertThat(store.collectGarbage().packs()).isOne();
  }

  /** An archive contains zeros in place of holes. */
  @Test
  void writtenZerosBecomeHoles() throws IOException {
    byte[] content = new byte[30_000_000];
    for (int at : List.of(0, 7_000_000, 20_000_000)) {
      System.arraycopy(SnapshotFixtures.noise(700_000, at), 0, content, at, 700_000);
    }
    Snapshot one = SnapshotFixtures.take(store, "one", Map.of("f", content));
    assertThat(one.bytes()).isEqualTo(content.length);
    assertThat(one.newBytes()).isBetween(2_090_000L, 2_110_000L);
    try (SnapshotReader opened = store.open("one")) {
      SnapshotEntry file = opened.entries().iterator().next();
      assertThat(opened.content(file).readAllBytes()).isEqualTo(content);
      assertThat(opened.extents(file)).hasSize(3);
      assertThat(opened.extents(file).getFirst().offset()).isZero();
      assertThat(opened.extents(file).getLast().offset()).isBetween(20_000_000L, 20_000_010L);
    }
    byte[] zeros = new byte[127 << 10];
    assertThat(SnapshotFixtures.take(store, "few", Map.of("z", zeros)).newBytes())
        .isEqualTo(zeros.length);
    byte[] many = Arrays.copyOf(new byte[] {1}, 10_000_000);
    SnapshotFixtures.take(store, "many", Map.of("m", many));
    try (SnapshotReader opened = store.open("many")) {
      assertThat(opened.content(opened.entries().iterator().next()).readAllBytes()).isEqualTo(many);
    }
  }

  @Test
  void invalidExtentsAreRejected() {
    for (List<Extent> extents :
        List.of(
            List.of(new Extent(0, 5), new Extent(4, 2)),
            List.of(new Extent(8, 3)),
            List.of(new Extent(0, 6)))) {
      try (SnapshotWriter taking = store.newWriter()) {
        InputStream data = new ByteArrayInputStream("12345".getBytes(UTF_8));
        assertThatThrownBy(() -> taking.add(sparse(10), extents, data))
            .as("%s", extents)
            .isInstanceOf(InvalidRequest.class);
      }
    }
    assertThatThrownBy(() -> new Extent(5, Long.MAX_VALUE))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
