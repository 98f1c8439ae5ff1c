package dev.isola.snapshot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.snapshot.blob.BlobStore;
import dev.isola.snapshot.blob.FolderBlobStore;
import dev.isola.snapshot.failpoint.FailpointListener;
import dev.isola.snapshot.failpoint.SnapshotFailpoint;
import dev.isola.snapshot.manifest.Snapshot;
import dev.isola.snapshot.manifest.SnapshotEntry;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A store on a real file system of 24 MiB, in a mount namespace that ends with the process. */
class DiskFullTest {
  @TempDir Path folder;

  @Test
  void fullDiskIsReportedAndLeavesNothing() throws Exception {
    run(Work.class);
  }

  @Test
  void diskThatBecomesFullAtAnyFailpointLosesNothing() throws Exception {
    run(EveryFailpoint.class);
  }

  private void run(Class<?> work) throws Exception {
    Path disk = Files.createDirectory(folder.resolve("disk"));
    List<String> command = new ArrayList<>(List.of("unshare", "-m", "sh", "-c"));
    if (!"root".equals(System.getProperty("user.name"))) {
      command.add(1, "-r");
    }
    command.add("mount -t tmpfs -o size=24m isola-test \"$0\" || exit 77; exec \"$@\"");
    command.add(disk.toString());
    command.addAll(ChildJvm.command(folder, work, disk.toString()));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    int status = process.waitFor();
    if (status == 77 || output.startsWith("unshare:")) {
      Assumptions.abort("NOT RUN: no mount namespace can be had here: " + output.strip());
    }
    assertThat(status).as(output).isZero();
    assertThat(output).endsWith("all of it\n");
  }

  /** Fills the small file system at each failpoint of captures, removals and collections. */
  static final class EveryFailpoint {
    private static final Map<String, byte[]> KEPT =
        Map.of("a", SnapshotFixtures.noise(500_000, 1), "b", SnapshotFixtures.noise(300_000, 2));

    private EveryFailpoint() {}

    public static void main(String[] args) throws IOException {
      Path disk = Path.of(args[0]);
      Path filler = disk.resolve("filler");
      Set<SnapshotFailpoint> reached = EnumSet.noneOf(SnapshotFailpoint.class);
      AtomicReference<@Nullable SnapshotFailpoint> next = new AtomicReference<>();
      FailpointListener failpoints =
          step -> {
            if (step == next.get()) {
              next.set(null);
              reached.add(step);
              fillUp(filler);
            }
          };
      BlobStore blobs = new FolderBlobStore(disk.resolve("store"), failpoints);
      try (SnapshotStore store = SnapshotStore.open(blobs, disk.resolve("work"), failpoints)) {
        SnapshotFixtures.take(store, "kept", KEPT);
        int number = 0;
        for (SnapshotFailpoint step : SnapshotFailpoint.values()) {
          String old = "old" + number;
          String id = "new" + number++;
          SnapshotFixtures.take(
              store,
              old,
              Map.of(
                  "a", SnapshotFixtures.noise(500_000, 1),
                  "c", SnapshotFixtures.noise(400_000, number)));
          next.set(step);
          boolean taken = attempt(store, id, number);
          fillUp(filler);
          if (taken) {
            store.remove(id);
          }
          store.remove(old);
          store.collectGarbage();
          assertThat(store.list()).as("%s", step).extracting(Snapshot::id).containsExactly("kept");
          assertThat(store.verify()).as("%s", step).isEmpty();
          Files.delete(filler);
          next.set(null);
          assertThat(attempt(store, id, number)).as("there is space again: %s", step).isTrue();
          store.remove(id);
          store.collectGarbage();
          try (SnapshotReader kept = store.open("kept")) {
            for (SnapshotEntry entry : kept.entries()) {
              assertThat(kept.content(entry).readAllBytes()).isEqualTo(KEPT.get(entry.path()));
            }
          }
        }
        assertThat(SnapshotFixtures.files(disk.resolve("work/staging"))).isEmpty();
      }
      assertThat(reached)
          .contains(
              SnapshotFailpoint.TAKE_BEGUN,
              SnapshotFailpoint.PACK_STAGED,
              SnapshotFailpoint.PACK_WRITTEN,
              SnapshotFailpoint.PACK_KEPT,
              SnapshotFailpoint.LIST_WRITTEN,
              SnapshotFailpoint.LIST_KEPT,
              SnapshotFailpoint.LIST_REMOVED,
              SnapshotFailpoint.COLLECT_BEGUN,
              SnapshotFailpoint.COLLECT_COUNTED,
              SnapshotFailpoint.COLLECT_REMOVED);
      System.out.print("all of it\n");
    }

    private static boolean attempt(SnapshotStore store, String id, int seed) {
      try {
        SnapshotFixtures.take(
            store, id, Map.of("n", SnapshotFixtures.noise(600_000, 1_000 + seed)));
        return true;
      } catch (SandboxException full) {
        assertThat(full.code()).isEqualTo(ErrorCode.DISK_FULL);
        return false;
      }
    }

    private static void fillUp(Path filler) {
      try {
        Work.fill(filler);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Runs on the small file system. */
  static final class Work {
    private Work() {}

    public static void main(String[] args) throws IOException {
      Path disk = Path.of(args[0]);
      try (SnapshotStore store = SnapshotFixtures.open(disk)) {
        SnapshotFixtures.take(store, "one", Map.of("a", SnapshotFixtures.noise(5_000_000, 1)));
        assertThatThrownBy(
                () ->
                    SnapshotFixtures.take(
                        store, "two", Map.of("b", SnapshotFixtures.noise(60_000_000, 2))))
            .isInstanceOfSatisfying(
                SandboxException.class,
                e -> {
                  assertThat(e.code()).isEqualTo(ErrorCode.DISK_FULL);
                  assertThat(e.fault().problem()).contains("No space left");
                });
        assertThat(store.list()).extracting(Snapshot::id).containsExactly("one");
        assertThat(SnapshotFixtures.files(disk.resolve("work/staging"))).isEmpty();
        store.collectGarbage();
        assertThat(SnapshotFixtures.size(disk)).isLessThan(5_100_000);

        SnapshotFixtures.take(
            store,
            "three",
            Map.of("a", SnapshotFixtures.noise(5_000_000, 1), "c", SnapshotFixtures.noise(9, 3)));
        SnapshotFixtures.take(store, "four", Map.of("d", SnapshotFixtures.noise(8_000_000, 4)));
        fill(disk.resolve("filler"));
        assertThatThrownBy(
                () ->
                    SnapshotFixtures.take(
                        store, "five", Map.of("e", SnapshotFixtures.noise(9_000, 5))))
            .isInstanceOf(SandboxException.class)
            .hasMessageContaining("No space left");
        store.remove("four");
        assertThat(store.collectGarbage().bytes())
            .as("on a completely full disk")
            .isGreaterThan(7_900_000);
        SnapshotFixtures.take(store, "five", Map.of("e", SnapshotFixtures.noise(9_000, 5)));
        assertThat(store.verify()).isEmpty();
        store.open("one").close();
        store.open("three").close();
        store.open("five").close();
      }
      System.out.print("all of it\n");
    }

    private static void fill(Path filler) throws IOException {
      byte[] block = new byte[4096];
      try (OutputStream out =
          Files.newOutputStream(filler, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
        for (int i = 0; i < 100_000; i++) {
          out.write(block);
        }
        throw new AssertionError("the disk has no end");
      } catch (IOException full) {
        assertThat(full).hasMessageContaining("No space left");
      }
    }
  }
}
