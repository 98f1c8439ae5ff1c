package dev.isola.engine.crash;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.Engine;
import dev.isola.engine.FakeLog;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.SnapshotImageName;
import dev.isola.engine.api.SnapshotRequest;
import dev.isola.snapshot.manifest.Snapshot;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.file.WriteOptions;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.store.DiskReserve;
import dev.isola.store.EntryFilter;
import dev.isola.testing.program.SmallDisk;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.awaitility.Awaitility;

/**
 * An engine on a small disk that {@code fill_at.c} fills at the first call of a round that may need
 * space, in the next round at the second one, and so on until a round has no more of them. A round
 * creates, renews, snapshots and destroys sandboxes, so that each write to the ledger, the snapshot
 * store and the data folder is the first to find the disk full once.
 */
final class FullDiskWrites {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final Duration SHORT = Duration.ofMillis(300);

  /** Far more than a round has. */
  private static final int MOST = 5_000;

  private final Path filler;
  private final MappedByteBuffer countdown;
  private final CrashServer server;
  private final Engine engine;

  private FullDiskWrites(Path filler, MappedByteBuffer countdown, CrashServer server) {
    this.filler = filler;
    this.countdown = countdown;
    this.server = server;
    this.engine = server.engine;
  }

  public static void main(String[] args) throws IOException {
    Awaitility.setDefaultTimeout(Duration.ofMinutes(1)); // a machine may be busy
    Path disk = Path.of(args[0]);
    try (RandomAccessFile file = new RandomAccessFile(args[2], "rw")) {
      MappedByteBuffer countdown = file.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, 8);
      countdown.order(ByteOrder.nativeOrder());
      CrashSite site =
          new CrashSite(new InstanceId("w" + SandboxId.random(RANDOM)), disk, List.of());
      DiskReserve reserve = DiskReserve.open(List.of(disk));
      FakeLog log = new FakeLog();
      try (CrashServer server =
          CrashServer.open(
              site,
              "shutdown: drain\nadmission: {queue_timeout: 0s}\n",
              PlantedBug.NOTHING,
              log,
              before -> {},
              reserve)) {
        FullDiskWrites writes = new FullDiskWrites(Path.of(args[1]), countdown, server);
        int round = 1;
        while (writes.round(round)) {
          round++;
          assertThat(round).isLessThan(MOST);
        }
        assertThat(round).as("writes of a round").isGreaterThan(50);
        assertThat(log.infos).contains("sandboxes are created again: the disks have space");
      }
    }
    System.out.println(SmallDisk.DONE);
  }

  /** Fills the disk at the n-th write; returns whether there were so many. */
  private boolean round(int number) throws IOException {
    SandboxId kept = create(Optional.empty(), number).orElseThrow();
    SandboxId expiring = create(Optional.of(SHORT), number).orElseThrow();
    List<SandboxId> all = new ArrayList<>(List.of(kept, expiring));
    byte[] content = ("content of round " + number).getBytes(UTF_8);
    engine
        .sandboxes()
        .get(kept)
        .files()
        .write("file", new ByteArrayInputStream(content), WriteOptions.DEFAULT);
    String before = snapshot(kept, number).orElseThrow();
    countdown.putLong(0, number);
    create(Optional.empty(), number).ifPresent(all::add);
    Optional<String> taken = snapshot(kept, number);
    tolerate(number, () -> engine.sandboxes().renew(kept, Duration.ofHours(2)));
    tolerate(number, () -> engine.sandboxes().get(kept).run(Command.shell("echo more >> file")));
    boolean filled = countdown.getLong(0) <= 0;
    countdown.putLong(0, 0);
    SmallDisk.fill(filler);
    await()
        .alias("expiry in round " + number)
        .until(() -> engine.sandboxes().view(expiring).state() == SandboxState.DESTROYED);
    for (SandboxId id : all) {
      engine.sandboxes().destroy(id, DestroyOptions.FORCE);
      assertThat(engine.sandboxes().view(id).state())
          .as("round %s", number)
          .isEqualTo(SandboxState.DESTROYED);
    }
    taken.ifPresent(engine.snapshots()::remove);
    engine.snapshots().collect();
    assertThat(
            server.ledger.sandboxes().listAll(EntryFilter.ALL).stream()
                .filter(entry -> entry.state() != SandboxState.DESTROYED))
        .as("round %s", number)
        .isEmpty();
    assertThat(engine.snapshots().list())
        .as("round %s", number)
        .extracting(Snapshot::id)
        .containsExactly(before);
    Files.delete(filler);
    await().alias("recovery after round " + number).until(() -> engine.readiness().isReady());
    SandboxId restored = create(Optional.empty(), number, before).orElseThrow();
    assertThat(engine.sandboxes().get(restored).files().readText("file", UTF_8, 1000))
        .isEqualTo(new String(content, UTF_8));
    engine.sandboxes().destroy(restored, DestroyOptions.FORCE);
    engine.snapshots().remove(before);
    return filled;
  }

  private Optional<String> snapshot(SandboxId id, int round) {
    try {
      return Optional.of(engine.snapshots().create(id, SnapshotRequest.WORKSPACE).snapshot().id());
    } catch (SandboxException e) {
      expectFull(e, round);
      return Optional.empty();
    }
  }

  private static void tolerate(int round, Runnable operation) {
    try {
      operation.run();
    } catch (SandboxException e) {
      expectFull(e, round);
    }
  }

  private Optional<SandboxId> create(Optional<Duration> ttl, int round, String... snapshot) {
    SandboxSpec.Builder spec = SandboxSpec.builder(SandboxId.random(RANDOM));
    for (String one : snapshot) {
      spec.image(SnapshotImageName.of(one));
    }
    CreateRequest request = CreateRequest.of(spec.build(), "subprocess");
    try {
      return Optional.of(
          engine
              .creator()
              .create(SandboxRequest.of(ttl.map(request::withTtl).orElse(request)))
              .view()
              .id());
    } catch (SandboxException e) {
      expectFull(e, round);
      return Optional.empty();
    }
  }

  private static void expectFull(SandboxException failure, int round) {
    assertThat(failure.code())
        .as("round %s: %s", round, failure.fault())
        .isIn(ErrorCode.DISK_FULL, ErrorCode.SPAWN_FAILED);
  }
}
