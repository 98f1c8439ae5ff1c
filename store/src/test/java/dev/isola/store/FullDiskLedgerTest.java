package dev.isola.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.isola.spi.Isolation;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.LimitExceeded;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A ledger on a real small file system that is full, in a mount namespace of its own. */
class FullDiskLedgerTest {
  private static final String TMPFS =
      "mount -t tmpfs -o size=64m,nr_inodes=2000 isola-test \"$0\" || exit 77";
  private static final String EXT4 =
      "{ truncate -s 64m \"$0.img\" && mkfs.ext4 -q -F \"$0.img\" && mount -o loop \"$0.img\""
          + " \"$0\"; } || exit 77";

  /** The quota of a user, as {@code quota.c} enforces it. */
  private static final int QUOTA = 64 << 20;

  @TempDir Path folder;

  @Test
  void sandboxesEndWhileANeighbourTakesEveryFreeBlock() throws Exception {
    freeingWorkSucceedsOnAFullDisk("tmpfs", "greedyNeighbour");
  }

  @Test
  void exhaustedQuotaIsAFullDisk() throws Exception {
    freeingWorkSucceedsOnAFullDisk("quota", "longLog");
  }

  @Test
  void serverWithAnExhaustedQuotaStarts() throws Exception {
    freeingWorkSucceedsOnAFullDisk("quota", "start");
  }

  @ParameterizedTest
  @CsvSource({
    "ext4, greedyNeighbour",
    "tmpfs, noInodes",
    "ext4, noInodes",
    "tmpfs, longLog",
    "ext4, longLog",
    "tmpfs, everyWrite",
    "ext4, everyWrite",
    "quota, everyWrite"
  })
  @Tag("all")
  void freeingWorkSucceedsOnAFullDisk(String fileSystem, String scenario) throws Exception {
    Path disk = Files.createDirectory(folder.resolve("disk"));
    List<String> command = new ArrayList<>();
    if (!fileSystem.equals("quota")) {
      command.addAll(List.of("unshare", "-m", "sh", "-c"));
      if (!"root".equals(System.getProperty("user.name"))) {
        command.add(1, "-r");
      }
      command.add((fileSystem.equals("tmpfs") ? TMPFS : EXT4) + "; exec \"$@\"");
      command.add(disk.toString());
    }
    command.addAll(
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED",
            "-XX:TieredStopAtLevel=1",
            "-Dslf4j.internal.verbosity=ERROR",
            "-cp",
            System.getProperty("java.class.path"),
            Work.class.getName(),
            disk.toString(),
            scenario));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    if (fileSystem.equals("quota")) {
      builder.environment().put("LD_PRELOAD", quotaLibrary().toString());
      builder.environment().put("QUOTA_FOLDER", disk.toString());
      builder.environment().put("QUOTA_BYTES", Integer.toString(QUOTA));
    }
    Process process = builder.start();
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    int status = process.waitFor();
    if (status == 77 || output.startsWith("unshare:")) {
      Assumptions.abort("NOT RUN: no " + fileSystem + " can be mounted here: " + output.strip());
    }
    assertThat(status).as(output).isZero();
    assertThat(output).endsWith("all of it\n");
  }

  private Path quotaLibrary() throws Exception {
    Path library = folder.resolve("quota.so");
    Path source = Path.of(FullDiskLedgerTest.class.getResource("/quota.c").toURI());
    Process compiler =
        new ProcessBuilder("cc", "-shared", "-fPIC", "-o", library.toString(), source.toString())
            .inheritIO()
            .start();
    assertThat(compiler.waitFor()).isZero();
    return library;
  }

  /** Runs on the small file system. */
  static final class Work {
    private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");

    private final Path disk;
    private final Neighbour neighbour;
    private DiskReserve reserve;
    private Ledger ledger;

    private Work(Path disk) throws IOException {
      this.disk = disk;
      neighbour = new Neighbour(disk.resolve("filler"));
      reserve = DiskReserve.open(List.of(disk));
      ledger = Ledgers.open(LedgerConfig.sqlite(disk.resolve("ledger")), reserve);
    }

    public static void main(String[] args) throws Exception {
      Work work = new Work(Path.of(args[0]));
      switch (args[1]) {
        case "greedyNeighbour" -> work.greedyNeighbour();
        case "noInodes" -> work.noInodes();
        case "longLog" -> work.longLog();
        case "everyWrite" -> work.everyWrite();
        case "start" -> work.start();
        default -> throw new AssertionError(args[1]);
      }
      work.ledger.close();
      System.out.print("all of it\n");
      System.out.flush();
      Runtime.getRuntime().halt(0);
    }

    /** A neighbour takes every block that becomes free. */
    private void greedyNeighbour() throws Exception {
      List<SandboxEntry> sandboxes = insert(100);
      ledger.settings().put("keys", "one", "1");
      assertThat(reserve.isIncomplete()).isFalse();
      neighbour.begin();
      refused();
      for (SandboxEntry sandbox : sandboxes) {
        end(sandbox);
      }
      assertThat(ledger.settings().remove("keys", "one")).isTrue();
      refused();
      neighbour.pause();
      restart();
      refused();
      assertThat(ledger.sandboxes().findOpen(sandboxes.stream().map(SandboxEntry::id).toList()))
          .isEmpty();
      assertThat(DiskReserve.freeing(() -> ledger.sandboxes().purge(NOW.plusSeconds(9))))
          .isEqualTo(sandboxes.size());
      recovers();
    }

    /** A server starts without a free inode, and ends sandboxes. */
    private void noInodes() throws Exception {
      List<SandboxEntry> sandboxes = insert(20);
      ledger.close();
      Path many = Files.createDirectory(disk.resolve("many"));
      try {
        while (true) {
          Files.createTempFile(many, "", "");
        }
      } catch (IOException full) {
        assertThat(full).hasMessageContaining("No space left");
      }
      reopen();
      sandboxes.forEach(this::end);
      assertThat(ledger.sandboxes().findOpen(sandboxes.stream().map(SandboxEntry::id).toList()))
          .isEmpty();
      refused();
      try (Stream<Path> all = Files.list(many)) {
        for (Path file : all.toList()) {
          Files.delete(file);
        }
      }
      recovers();
    }

    /** A reader keeps the log from being used again, so that it outgrows what it has in advance. */
    private void longLog() throws Exception {
      ledger.settings().put("keys", "one", "1");
      neighbour.fill();
      String much = "x".repeat(100_000);
      int written = 0;
      Files.delete(disk.resolve("filler")); // the reader begins while there is space
      Thread reader = readForever();
      neighbour.fill();
      try {
        while (!reserve.isIncomplete()) {
          String name = "n" + written++;
          DiskReserve.freeing(
              () -> {
                ledger.settings().put("much", name, much);
                return name;
              });
        }
      } finally {
        reader.interrupt();
        reader.join();
      }
      refused();
      assertThat(ledger.settings().all("much")).hasSize(written);
      recovers();
    }

    /** The files of the ledger were removed when it was closed, and their room was taken. */
    private void start() throws Exception {
      List<SandboxEntry> sandboxes = insert(20);
      ledger.close();
      neighbour.fill();
      reopen();
      sandboxes.forEach(this::end);
      refused();
      recovers();
    }

    private Thread readForever() throws InterruptedException {
      CountDownLatch begun = new CountDownLatch(1);
      Thread reader =
          Thread.ofPlatform()
              .start(
                  () ->
                      ((SqlLedger) ledger)
                          .database()
                          .read(
                              c -> {
                                Sql.update(c, "begin");
                                long _ =
                                    Sql.one(
                                            c,
                                            "select count(*) as n from setting",
                                            row -> row.result().getLong(1))
                                        .orElseThrow();
                                begun.countDown();
                                try {
                                  new CountDownLatch(1).await();
                                } catch (InterruptedException e) {
                                  // It is told to end.
                                }
                                Sql.update(c, "commit");
                                return 0;
                              }));
      begun.await();
      return reader;
    }

    /** The disk becomes full after any number of blocks, without a reserve that would hide it. */
    private void everyWrite() throws Exception {
      ledger.close();
      ledger = Ledgers.open(LedgerConfig.sqlite(disk.resolve("ledger")));
      String some = "y".repeat(30_000);
      List<String> acknowledged = new ArrayList<>();
      for (int blocks = 0; blocks < 24; blocks++) {
        neighbour.fill();
        neighbour.giveBack(blocks * 4096L);
        @Nullable LimitExceeded full = null;
        for (int i = 0; full == null; i++) {
          String name = blocks + "-" + i;
          try {
            ledger.settings().put("some", name, some);
            acknowledged.add(name);
          } catch (LimitExceeded e) {
            full = e;
          }
          assertThat(i).isLessThan(2_000);
        }
        assertThat(full.code()).isEqualTo(ErrorCode.DISK_FULL);
        assertThat(ledger.settings().all("some").keySet())
            .as("after %s blocks", blocks)
            .containsExactlyInAnyOrderElementsOf(acknowledged);
        neighbour.clear();
        ledger.settings().put("some", "after " + blocks, some);
        acknowledged.add("after " + blocks);
        for (String name : List.copyOf(acknowledged)) {
          assertThat(ledger.settings().remove("some", name)).isTrue();
        }
        acknowledged.clear();
      }
      ledger.close();
      ledger = Ledgers.open(LedgerConfig.sqlite(disk.resolve("ledger")));
      assertThat(ledger.settings().all("some")).isEmpty();
    }

    /** In one transaction, so that the log of the ledger is still short. */
    private List<SandboxEntry> insert(int count) {
      return ledger.atomically(
          parts ->
              IntStream.range(0, count)
                  .mapToObj(
                      i ->
                          SandboxEntry.intent(
                                  new SandboxId("s" + i),
                                  "{}",
                                  "hash",
                                  "memory",
                                  Isolation.PROCESS,
                                  NOW)
                              .build())
                  .map(intent -> LedgerContract.running(parts, intent))
                  .toList());
    }

    private void end(SandboxEntry sandbox) {
      for (SandboxState state : List.of(SandboxState.TERMINATING, SandboxState.DESTROYED)) {
        UpdateResult result =
            DiskReserve.freeing(
                () ->
                    ledger.atomically(
                        parts -> {
                          SandboxEntry current = parts.sandboxes().find(sandbox.id()).orElseThrow();
                          parts.events().append(NewEvent.of(sandbox.id(), "x", "{}", NOW));
                          return parts.sandboxes().update(current.withState(state, NOW));
                        }));
        assertThat(result).isInstanceOf(UpdateResult.Written.class);
      }
    }

    private void refused() {
      assertThatExceptionOfType(LimitExceeded.class)
          .isThrownBy(() -> ledger.settings().put("keys", "two", "2"))
          .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.DISK_FULL));
    }

    private void restart() throws IOException {
      ledger.close();
      neighbour.fill();
      reopen();
    }

    private void reopen() throws IOException {
      reserve = DiskReserve.open(List.of(disk));
      reserve.makeRoomToStart();
      ledger = Ledgers.open(LedgerConfig.sqlite(disk.resolve("ledger")), reserve);
    }

    private void recovers() throws Exception {
      neighbour.clear();
      assertThat(reserve.refill()).isTrue();
      ledger.settings().put("keys", "two", "2");
      assertThat(ledger.settings().get("keys", "two")).contains("2");
    }
  }

  /** Fills a file system. */
  static final class Neighbour {
    private final Path file;
    private volatile boolean greedy;
    private @Nullable Thread thread;

    Neighbour(Path file) {
      this.file = file;
    }

    /** Takes every block as soon as it is free. */
    void begin() throws IOException {
      greedy = true;
      fill();
      thread =
          Thread.ofPlatform()
              .daemon()
              .start(
                  () -> {
                    while (greedy) {
                      try {
                        fill();
                      } catch (IOException e) {
                        throw new AssertionError(e);
                      }
                    }
                  });
    }

    void pause() throws InterruptedException {
      greedy = false;
      if (thread != null) {
        thread.join();
      }
    }

    void fill() throws IOException {
      try (FileChannel channel =
          FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
        for (int size = 1 << 16; size > 0; size /= 16) {
          try {
            while (true) {
              channel.write(ByteBuffer.allocate(size));
            }
          } catch (IOException full) {
            // a smaller piece may fit
          }
        }
      }
    }

    void giveBack(long bytes) throws IOException {
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
        channel.truncate(Math.max(0, channel.size() - bytes));
        channel.force(true);
      }
    }

    void clear() throws Exception {
      pause();
      Files.deleteIfExists(file);
    }
  }
}
