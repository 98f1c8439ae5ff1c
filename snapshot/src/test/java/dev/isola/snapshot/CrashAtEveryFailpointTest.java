package dev.isola.snapshot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.snapshot.blob.BlobStore;
import dev.isola.snapshot.blob.FolderBlobStore;
import dev.isola.snapshot.chunk.ChunkId;
import dev.isola.snapshot.failpoint.FailpointListener;
import dev.isola.snapshot.failpoint.SnapshotFailpoint;
import dev.isola.snapshot.manifest.Snapshot;
import dev.isola.snapshot.manifest.SnapshotEntry;
import dev.isola.spi.error.Gone;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A process captures, restores, removes and collects garbage, and crashes at each failpoint once.
 * Afterwards the existing snapshots are intact, unfinished ones are invisible, and their space is
 * reclaimed.
 */
class CrashAtEveryFailpointTest {
  private static final int STATUS = 86;
  private static final int TIMES = Boolean.getBoolean("isola.long") ? 3 : 1;

  @TempDir Path folder;

  /** A pack that is partly used and a pack that is unused. */
  @BeforeEach
  void plant() {
    try (SnapshotStore store = SnapshotFixtures.open(folder)) {
      SnapshotFixtures.take(store, "large", Work.files("large"));
      SnapshotFixtures.take(store, "small", Work.files("small"));
      SnapshotFixtures.take(store, "lone", Work.files("lone"));
      store.remove("lone");
    }
  }

  static Stream<Arguments> moments() {
    return Stream.of(SnapshotFailpoint.values())
        .flatMap(
            step -> IntStream.rangeClosed(1, TIMES).mapToObj(time -> Arguments.of(step, time)));
  }

  @ParameterizedTest(name = "{0}, time {1}")
  @MethodSource("moments")
  void crashAtAnyFailpointLosesNothing(SnapshotFailpoint step, int time) throws Exception {
    Run run = run(step, time, "plain");
    assertThat(run.status())
        .as("the process reached %s: %s", step, run.lines())
        .isIn(time == 1 ? List.of(STATUS) : List.of(STATUS, 0));
    look(run.lines(), step + ", time " + time);
  }

  @Test
  void workloadCompletesWithoutACrash() throws Exception {
    Run run = run(SnapshotFailpoint.FILE_SYNCED, 1_000_000, "plain");
    assertThat(run.lines())
        .containsExactly("took new", "restored small", "removing large", "removed", "collected");
    assertThat(run.status()).isZero();
    look(run.lines(), "no crash");
  }

  /** The control: a store that writes packs after the manifest that needs them is detected. */
  @Test
  void wrongWriteOrderIsDetected() throws Exception {
    Run run = run(SnapshotFailpoint.LIST_KEPT, 1, "late");
    assertThat(run.status()).isEqualTo(STATUS);
    assertThatThrownBy(() -> look(run.lines(), "too late"))
        .isInstanceOf(Gone.class)
        .hasMessageContaining("no pack contains it");
  }

  private record Run(int status, List<String> lines) {}

  private Run run(SnapshotFailpoint step, int times, String how) throws Exception {
    Process process =
        ChildJvm.of(
                folder, Work.class, folder.toString(), step.name(), Integer.toString(times), how)
            .start();
    process.getOutputStream().close();
    List<String> lines =
        new String(process.getInputStream().readAllBytes(), UTF_8).lines().toList();
    return new Run(process.waitFor(), lines);
  }

  private void look(List<String> lines, String where) throws IOException {
    List<String> found;
    try (SnapshotStore store = SnapshotFixtures.open(folder)) {
      assertThat(store.verify()).as(where).isEmpty();
      found = store.list().stream().map(Snapshot::id).toList();
      assertThat(found).as(where).contains("small").doesNotContain("lone");
      if (lines.contains("took new")) {
        assertThat(found).as(where).contains("new");
      }
      if (!lines.contains("removing large")) {
        assertThat(found).as(where).contains("large");
      }
      if (lines.contains("removed")) {
        assertThat(found).as(where).doesNotContain("large");
      }
      for (String id : found) {
        assertThat(Work.content(store, id))
            .as("%s: %s", where, id)
            .isEqualTo(Work.hashes(Work.files(id)));
      }
      store.collectGarbage();
      assertThat(store.collectGarbage().packs()).as(where).isZero();
      for (String id : found) {
        assertThat(Work.content(store, id))
            .as("%s: %s", where, id)
            .isEqualTo(Work.hashes(Work.files(id)));
      }
    }
    try (Stream<Path> staged = Files.list(folder.resolve("work/staging"))) {
      assertThat(staged).as(where).isEmpty();
    }
    long most = 10_000;
    Map<String, byte[]> needed = new TreeMap<>();
    found.forEach(id -> needed.putAll(Work.files(id)));
    for (byte[] content : needed.values()) {
      most += content.length + 200;
    }
    assertThat(SnapshotFixtures.size(folder.resolve("store"))).as(where).isLessThan(most);
  }

  /** The process to crash. */
  static final class Work {
    private Work() {}

    /** Files whose names determine their content. */
    static Map<String, byte[]> files(String id) {
      Map<String, byte[]> files = new TreeMap<>();
      List<Integer> seeds =
          switch (id) {
            case "large" -> List.of(1, 2, 3, 4, 8);
            case "small" -> List.of(1);
            case "lone" -> List.of(5);
            case "new" -> List.of(2, 6, 7);
            default -> throw new AssertionError("no such snapshot: " + id);
          };
      seeds.forEach(seed -> files.put("f" + seed, SnapshotFixtures.noise(20_000, seed)));
      return files;
    }

    static Map<String, ChunkId> hashes(Map<String, byte[]> files) {
      Map<String, ChunkId> hashes = new TreeMap<>();
      files.forEach((name, bytes) -> hashes.put(name, ChunkId.of(bytes, 0, bytes.length)));
      return hashes;
    }

    static Map<String, ChunkId> content(SnapshotStore store, String id) throws IOException {
      Map<String, byte[]> content = new TreeMap<>();
      try (SnapshotReader opened = store.open(id)) {
        for (SnapshotEntry entry : opened.entries()) {
          content.put(entry.path(), opened.content(entry).readAllBytes());
        }
      }
      return hashes(content);
    }

    public static void main(String[] args) throws IOException {
      Path folder = Path.of(args[0]);
      SnapshotFailpoint last = SnapshotFailpoint.valueOf(args[1]);
      AtomicInteger left = new AtomicInteger(Integer.parseInt(args[2]));
      FailpointListener failpoints =
          step -> {
            if (step == last && left.decrementAndGet() == 0) {
              Runtime.getRuntime().halt(STATUS); // As after kill -9.
            }
          };
      BlobStore blobs = new FolderBlobStore(folder.resolve("store"), failpoints);
      try (SnapshotStore store =
          SnapshotStore.open(
              args[3].equals("late") ? new Late(blobs) : blobs,
              folder.resolve("work"),
              failpoints)) {
        SnapshotFixtures.take(store, "new", files("new"));
        say("took new");
        content(store, "small");
        say("restored small");
        say("removing large");
        store.remove("large");
        say("removed");
        store.collectGarbage();
        say("collected");
      }
    }

    private static void say(String line) {
      System.out.print(line + "\n");
      System.out.flush();
    }
  }

  /** Holds back packs until it is closed. */
  private record Late(BlobStore blobs, List<Path> kept) implements BlobStore {
    Late(BlobStore blobs) {
      this(blobs, new ArrayList<>());
    }

    @Override
    public Claim claim(Path work) throws IOException {
      return blobs.claim(work);
    }

    @Override
    public void put(String name, Path file) {
      kept.add(file);
    }

    @Override
    public void create(String name, Path file) throws IOException {
      blobs.create(name, file);
    }

    @Override
    public byte[] read(String name, long offset, int length) throws IOException {
      return blobs.read(name, offset, length);
    }

    @Override
    public long size(String name) throws IOException {
      return blobs.size(name);
    }

    @Override
    public List<String> list(String prefix) throws IOException {
      return blobs.list(prefix);
    }

    @Override
    public void remove(String name) throws IOException {
      blobs.remove(name);
    }
  }
}
