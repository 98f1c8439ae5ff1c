package dev.isola.snapshot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.snapshot.blob.FolderBlobs;
import dev.isola.snapshot.manifest.Entry;
import dev.isola.snapshot.manifest.Snapshot;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A process takes, removes and collects snapshots until it is killed with -9; then everything that
 * it said was done is done, and nothing else is there but at most the one it was about to tell.
 */
class KilledTest {
  private static final int CYCLES = Boolean.getBoolean("isola.long") ? 200 : 12;

  @TempDir Path folder;

  @Test
  void losesNothingThatWasAcknowledged() throws Exception {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    Map<String, String> acknowledged = new HashMap<>();
    int taken = 0;
    for (int i = 0; i < CYCLES; i++) {
      List<String> lines = run(random.nextInt(400), random.nextLong());
      String leaving = "";
      for (String line : lines) {
        String[] words = line.split(" ");
        switch (words[0]) {
          case "took" -> {
            acknowledged.put(words[1], words[2]);
            taken++;
          }
          case "removing" -> leaving = words[1];
          case "removed" -> acknowledged.remove(words[1]);
          default -> throw new AssertionError(line);
        }
      }
      look(acknowledged, leaving, "seed " + seed + ", cycle " + i);
    }
    assertThat(taken).as("it was at work").isGreaterThan(CYCLES);
  }

  private void look(Map<String, String> acknowledged, String leaving, String where)
      throws IOException {
    try (SnapshotStore store = Work.open(folder)) {
      assertThat(store.verify()).as(where).isEmpty();
      List<String> found = store.list().stream().map(Snapshot::id).toList();
      if (!found.contains(leaving)) {
        acknowledged.remove(leaving); // it was killed before it could say so
      }
      assertThat(found).as(where).containsAll(acknowledged.keySet());
      assertThat(found.size()).as(where).isLessThanOrEqualTo(acknowledged.size() + 1);
      for (String id : found) {
        try (Opened opened = store.open(id)) {
          String checksum = opened.snapshot().checksum();
          assertThat(acknowledged.putIfAbsent(id, checksum)).as(where).isIn(checksum, null);
        }
      }
      store.collect();
      assertThat(store.collect().packs()).as(where).isZero();
      found.forEach(id -> store.open(id).close());
    }
    try (Stream<Path> staged = Files.list(folder.resolve("work/staging"))) {
      assertThat(staged).as(where).isEmpty();
    }
  }

  private List<String> run(int millis, long seed) throws Exception {
    Path out = folder.resolve("out");
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Work.class.getName(),
                folder.toString(),
                Long.toString(seed))
            .redirectOutput(out.toFile())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try {
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
      while (Files.size(out) == 0 && System.nanoTime() < deadline) {
        Thread.sleep(5); // until it works
      }
      Thread.sleep(millis); // the moment is the point
    } finally {
      process.destroyForcibly().waitFor();
    }
    String text = Files.readString(out, UTF_8);
    return text.substring(0, text.lastIndexOf('\n') + 1).lines().toList();
  }

  /** What is killed. */
  static final class Work {
    static SnapshotStore open(Path folder) {
      return SnapshotStore.open(new FolderBlobs(folder.resolve("store")), folder.resolve("work"));
    }

    public static void main(String[] args) {
      Random random = new Random(Long.parseLong(args[1]));
      try (SnapshotStore store = open(Path.of(args[0]))) {
        List<String> ids = new ArrayList<>(store.list().stream().map(Snapshot::id).toList());
        while (true) {
          String id = "s" + Long.toString(random.nextLong() >>> 1, 36);
          say("took " + id + " " + take(store, random, id).checksum());
          ids.add(id);
          if (ids.size() > 4) {
            String old = ids.remove(random.nextInt(ids.size()));
            say("removing " + old);
            store.remove(old);
            say("removed " + old);
            store.collect();
          }
        }
      }
    }

    private static Snapshot take(SnapshotStore store, Random random, String id) {
      try (Taking taking = store.take()) {
        for (int i = 0; i < 20; i++) {
          byte[] content = new byte[random.nextInt(60_000)];
          new Random(random.nextInt(200)).nextBytes(content);
          Entry entry =
              new Entry("f" + i, Entry.Kind.FILE, "", 0644, 0, 0, 0, 0, 0, Map.of(), List.of());
          taking.add(entry, new ByteArrayInputStream(content));
        }
        return taking.finish(
            counts ->
                new Snapshot(
                    id,
                    Instant.EPOCH,
                    "sandbox",
                    "memory",
                    "1",
                    "amd64",
                    Map.of(),
                    Optional.empty(),
                    "/",
                    List.of(),
                    List.of(),
                    counts.files(),
                    counts.bytes(),
                    counts.newBytes(),
                    counts.storedBytes(),
                    counts.checksum()));
      }
    }

    private static void say(String line) {
      System.out.print(line + "\n");
      System.out.flush();
    }

    private Work() {}
  }
}
