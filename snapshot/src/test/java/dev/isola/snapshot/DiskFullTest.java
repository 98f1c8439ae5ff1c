package dev.isola.snapshot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.snapshot.manifest.Snapshot;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A store on a real file system of 24 MiB, in a mount namespace that ends with the process. */
class DiskFullTest {
  @TempDir Path folder;

  @Test
  void fullDiskIsReportedAndLeavesNothing() throws Exception {
    Path disk = Files.createDirectory(folder.resolve("disk"));
    List<String> command = new ArrayList<>(List.of("unshare", "-m", "sh", "-c"));
    if (!"root".equals(System.getProperty("user.name"))) {
      command.add(1, "-r");
    }
    command.add("mount -t tmpfs -o size=24m isola-test \"$0\" || exit 77; exec \"$@\"");
    command.add(disk.toString());
    command.addAll(ChildJvm.command(folder, Work.class, disk.toString()));
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
      try (OutputStream out = Files.newOutputStream(filler)) {
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
