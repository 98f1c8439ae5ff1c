package dev.isola.snapshot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.snapshot.manifest.Snapshot;
import dev.isola.snapshot.manifest.SnapshotEntry;
import dev.isola.spi.file.TreeLimits;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Stores the same tree with this store and with restic: 10,000 small files and 500 MB in large
 * ones, first completely, then with one percent changed. The stored size is limited by an
 * assertion; times are only printed.
 */
class ResticComparisonTest {
  private static final int SMALL = 10_000;
  private static final int LARGE = 10;
  private static final int LARGE_BYTES = 50_000_000;

  @TempDir Path temporary;

  @Test
  void storesAtMostTwentyPercentMoreThanRestic() throws Exception {
    if (!Boolean.getBoolean("isola.long")) {
      Assumptions.abort("NOT RUN: a gigabyte is written; run with -Disola.long=true");
    }
    if (Stream.of(System.getenv("PATH").split(":", -1))
        .noneMatch(part -> Files.isExecutable(Path.of(part, "restic")))) {
      Assumptions.abort("NOT RUN: restic is not installed");
    }
    // In a process with the JIT compiler of servers, which tests do not use.
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Comparison.class.getName(),
                temporary.toString())
            .redirectErrorStream(true)
            .start();
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    System.out.print(output);
    assertThat(process.waitFor()).as(output).isZero();
    assertThat(output).contains("stored, together");
  }

  /** The comparison with restic. */
  static final class Comparison {
    private final Path folder;
    private final Path tree;

    private Comparison(Path folder) throws IOException {
      this.folder = folder;
      this.tree = Files.createDirectory(folder.resolve("tree"));
    }

    public static void main(String[] args) throws Exception {
      Comparison comparison = new Comparison(Path.of(args[0]));
      comparison.plant();
      comparison.run();
    }

    private void run() throws Exception {
      restic("init");
      for (int round = 0; round < 2; round++) {
        // The first round only warms up this process; restic needs none.
        Path location = folder.resolve("round" + round);
        try (SnapshotStore store = SnapshotFixtures.open(location)) {
          timed("isola: all of it, as an archive", () -> archive(store, "one"));
          timed("isola: again, as an archive", () -> archive(store, "again"));
          timed("isola: again, nothing read", () -> walk(store, "walked", "one"));
          timed("isola: opened for a restore", () -> store.open("one").close());
        }
        if (round == 0) {
          delete(location);
        }
      }
      timed("restic: all of it", () -> restic("backup", "."));
      timed("restic: again", () -> restic("backup", "."));
      Path ours = folder.resolve("round1/store");
      Path theirs = folder.resolve("restic");
      compare("all of it", SnapshotFixtures.size(ours), SnapshotFixtures.size(theirs));
      long oursBefore = SnapshotFixtures.size(ours);
      long theirsBefore = SnapshotFixtures.size(theirs);
      change();
      try (SnapshotStore store = SnapshotFixtures.open(folder.resolve("round1"))) {
        timed("isola: 1 % changed, the rest not read", () -> walk(store, "two", "one"));
        timed("isola: 1 % changed, as an archive", () -> archive(store, "three"));
        assertThat(store.get("three").newBytes()).isZero();
      }
      timed("restic: 1 % changed", () -> restic("backup", "."));
      compare(
          "1 % changed",
          SnapshotFixtures.size(ours) - oursBefore, SnapshotFixtures.size(theirs) - theirsBefore);
      compare("together", SnapshotFixtures.size(ours), SnapshotFixtures.size(theirs));
    }

    private static void compare(String what, long ours, long theirs) {
      System.out.printf("stored, %s: isola %,d, restic %,d bytes%n", what, ours, theirs);
      assertThat(ours).as(what).isLessThanOrEqualTo(theirs + theirs / 5);
    }

    private interface Work {
      void run() throws Exception;
    }

    private static void timed(String what, Work work) throws Exception {
      long begin = System.nanoTime();
      work.run();
      System.out.printf("%-42s %6d ms%n", what, (System.nanoTime() - begin) / 1_000_000);
    }

    private Snapshot archive(SnapshotStore store, String id) throws Exception {
      Process tar = new ProcessBuilder("tar", "-C", tree.toString(), "-c", ".").start();
      tar.getOutputStream().close();
      try (InputStream archive = tar.getInputStream();
          SnapshotWriter taking = store.newWriter()) {
        SnapshotArchives.importArchive(archive, taking, TreeLimits.DEFAULT);
        return SnapshotFixtures.finish(taking, id);
      }
    }

    /** Reads only files whose size or time differs from the earlier snapshot. */
    private Snapshot walk(SnapshotStore store, String id, String before) throws IOException {
      Map<String, SnapshotEntry> known = new HashMap<>();
      store.entries(before).forEach(entry -> known.put(entry.path(), entry));
      try (SnapshotWriter taking = store.newWriter();
          Stream<Path> files = Files.walk(tree)) {
        for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
          String path = tree.relativize(file).toString();
          BasicFileAttributes now =
              Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
          SnapshotEntry was = known.get(path);
          if (was != null
              && was.size() == now.size()
              && was.seconds() == now.lastModifiedTime().to(TimeUnit.SECONDS)) {
            taking.add(was);
          } else {
            try (InputStream content = Files.newInputStream(file)) {
              taking.add(SnapshotFixtures.plain(path), content);
            }
          }
        }
        return SnapshotFixtures.finish(taking, id);
      }
    }

    /** Half compressible like source code, half incompressible. */
    private void plant() throws IOException {
      Random random = new Random(1);
      for (int i = 0; i < SMALL; i++) {
        Path file = tree.resolve("d" + i / 100 + "/f" + i);
        Files.createDirectories(file.getParent());
        Files.write(file, text(random, 200 + random.nextInt(6000)));
        Files.setLastModifiedTime(file, FileTime.from(Instant.ofEpochSecond(1_600_000_000 + i)));
      }
      for (int i = 0; i < LARGE; i++) {
        Path file = tree.resolve("large" + i);
        Files.write(
            file,
            i % 2 == 0 ? text(random, LARGE_BYTES) : SnapshotFixtures.noise(LARGE_BYTES, 1000 + i));
        Files.setLastModifiedTime(file, FileTime.from(Instant.ofEpochSecond(1_600_000_000)));
      }
    }

    private static byte[] text(Random random, int length) {
      StringBuilder text = new StringBuilder(length + 16);
      while (text.length() < length) {
        text.append(Integer.toString(random.nextInt(1 << 14), 36)).append(' ');
      }
      return Arrays.copyOf(text.toString().getBytes(UTF_8), length);
    }

    /** Changes one small file in a hundred and five ranges of one megabyte. */
    private void change() throws IOException {
      Random random = new Random(2);
      for (int i = 0; i < SMALL; i += 100) {
        Files.write(tree.resolve("d" + i / 100 + "/f" + i), text(random, 3000));
      }
      for (int i = 0; i < 5; i++) {
        try (RandomAccessFile file =
            new RandomAccessFile(tree.resolve("large" + i).toFile(), "rw")) {
          file.seek(random.nextInt(LARGE_BYTES - 1_000_000));
          file.write(SnapshotFixtures.noise(1_000_000, i));
        }
      }
    }

    private void restic(String... words) throws Exception {
      List<String> command = new ArrayList<>(List.of("restic", "-q"));
      command.addAll(List.of(words));
      ProcessBuilder builder =
          new ProcessBuilder(command).directory(tree.toFile()).redirectErrorStream(true);
      builder.environment().put("RESTIC_REPOSITORY", folder.resolve("restic").toString());
      builder.environment().put("RESTIC_PASSWORD", "beside");
      builder.environment().put("RESTIC_CACHE_DIR", folder.resolve("cache").toString());
      Process process = builder.start();
      process.getOutputStream().close();
      String output = new String(process.getInputStream().readAllBytes(), UTF_8);
      assertThat(process.waitFor()).as(output).isZero();
    }

    private static void delete(Path location) throws IOException {
      List<Path> all;
      try (Stream<Path> files = Files.walk(location)) {
        all = files.sorted((a, b) -> b.compareTo(a)).toList();
      }
      for (Path file : all) {
        Files.delete(file);
      }
    }
  }
}
