package dev.isola.snapshot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.snapshot.manifest.Snapshot;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A process captures, removes and collects snapshots until it is killed with -9. Afterwards every
 * acknowledged operation has taken effect, and at most one unacknowledged snapshot exists.
 */
class KillDurabilityTest {
  private static final int CYCLES = Boolean.getBoolean("isola.long") ? 200 : 4;

  @TempDir Path folder;

  @Test
  void killedProcessLosesNoAcknowledgedSnapshot() throws Exception {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    Map<String, String> acknowledged = new HashMap<>();
    int taken = 0;
    for (int i = 0; i < CYCLES; i++) {
      List<String> lines = run(random.nextInt(400), Long.toString(random.nextLong()));
      taken += believe(lines, acknowledged, "seed " + seed + ", cycle " + i);
    }
    assertThat(taken).as("the process was working").isGreaterThan(CYCLES);
  }

  /** The control: a snapshot that was acknowledged but does not exist is detected. */
  @Test
  void missingAcknowledgedSnapshotIsDetected() throws Exception {
    List<String> lines = run(0, "lie");
    assertThat(lines).containsExactly("took nothing 00");
    assertThatThrownBy(() -> believe(lines, new HashMap<>(), "a lie"))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("nothing");
  }

  /** Verifies everything that a process acknowledged and returns the number of its snapshots. */
  private int believe(List<String> lines, Map<String, String> acknowledged, String where)
      throws IOException {
    String leaving = "";
    int taken = 0;
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
    look(acknowledged, leaving, where);
    return taken;
  }

  private void look(Map<String, String> acknowledged, String leaving, String where)
      throws IOException {
    try (SnapshotStore store = SnapshotFixtures.open(folder)) {
      assertThat(store.verify()).as(where).isEmpty();
      List<String> found = store.list().stream().map(Snapshot::id).toList();
      if (!found.contains(leaving)) {
        acknowledged.remove(leaving); // Killed before it was acknowledged.
      }
      assertThat(found).as(where).containsAll(acknowledged.keySet());
      assertThat(found.size()).as(where).isLessThanOrEqualTo(acknowledged.size() + 1);
      for (String id : found) {
        try (SnapshotReader opened = store.open(id)) {
          String checksum = opened.snapshot().checksum();
          assertThat(acknowledged.putIfAbsent(id, checksum)).as(where).isIn(checksum, null);
        }
      }
      store.collectGarbage();
      assertThat(store.collectGarbage().packs()).as(where).isZero();
      found.forEach(id -> store.open(id).close());
    }
    try (Stream<Path> staged = Files.list(folder.resolve("work/staging"))) {
      assertThat(staged).as(where).isEmpty();
    }
  }

  private List<String> run(int millis, String seed) throws Exception {
    Path out = folder.resolve("out");
    Files.deleteIfExists(out);
    Process process =
        ChildJvm.of(folder, Work.class, folder.toString(), seed)
            .redirectOutput(out.toFile())
            .start();
    try {
      await().atMost(Duration.ofMinutes(1)).until(() -> Files.size(out) > 0); // the process works
      Thread.sleep(millis); // Kills at a random moment.
    } finally {
      process.destroyForcibly().waitFor();
    }
    String text = Files.readString(out, UTF_8);
    return text.substring(0, text.lastIndexOf('\n') + 1).lines().toList();
  }

  /** The process to kill. */
  static final class Work {
    public static void main(String[] args) throws IOException {
      if (args[1].equals("lie")) {
        say("took nothing 00");
        System.in.read(); // until it is killed
      }
      Random random = new Random(Long.parseLong(args[1]));
      try (SnapshotStore store = SnapshotFixtures.open(Path.of(args[0]))) {
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
            store.collectGarbage();
          }
        }
      }
    }

    private static Snapshot take(SnapshotStore store, Random random, String id) {
      try (SnapshotWriter taking = store.newWriter()) {
        for (int i = 0; i < 20; i++) {
          byte[] content = SnapshotFixtures.noise(random.nextInt(60_000), random.nextInt(200));
          taking.add(SnapshotFixtures.plain("f" + i), new ByteArrayInputStream(content));
        }
        return SnapshotFixtures.finish(taking, id);
      }
    }

    private static void say(String line) {
      System.out.print(line + "\n");
      System.out.flush();
    }

    private Work() {}
  }
}
