package dev.isola.engine.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.Engine;
import dev.isola.engine.FakeLog;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.SandboxView;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.store.DiskReserve;
import dev.isola.store.EntryFilter;
import dev.isola.store.Failpoint;
import dev.isola.store.SandboxEntry;
import dev.isola.testing.program.SmallDisk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** An engine on a small disk, which it fills at each failpoint while it creates and destroys. */
final class FullDiskChild {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final Duration SHORT = Duration.ofMillis(300);

  /** What this traffic passes in every round. */
  private static final Set<Failpoint> PASSED =
      EnumSet.of(
          Failpoint.CREATE_SELECTED,
          Failpoint.CREATE_ADMITTED,
          Failpoint.CREATE_WRITTEN,
          Failpoint.CREATE_MAKING,
          Failpoint.CREATE_MADE,
          Failpoint.CREATE_RUNNING,
          Failpoint.CREATE_DELIVERED,
          Failpoint.END_BEGUN,
          Failpoint.END_WRITTEN,
          Failpoint.END_DESTROYED,
          Failpoint.END_DROPPED,
          Failpoint.END_FINISHED,
          Failpoint.EXPIRY_FOUND,
          Failpoint.EXPIRY_CLAIMED,
          Failpoint.EXPIRY_ENDED,
          Failpoint.RENEW_WRITTEN,
          Failpoint.RECORD_KEY_BOUND,
          Failpoint.RECORD_INSERTED,
          Failpoint.RECORD_UPDATED,
          Failpoint.EVENT_SIGNALLED,
          Failpoint.LEDGER_BEGUN,
          Failpoint.LEDGER_BEFORE_COMMIT,
          Failpoint.LEDGER_AFTER_COMMIT);

  private final Path filler;
  private final CrashServer server;
  private final Engine engine;
  private final AtomicReference<@Nullable Failpoint> next = new AtomicReference<>();
  private final Set<Failpoint> reached = ConcurrentHashMap.newKeySet();

  private FullDiskChild(Path disk, CrashServer server) {
    this.filler = disk.resolve("filler");
    this.server = server;
    this.engine = server.engine;
    Failpoint.observe(this::observe);
  }

  public static void main(String[] args) throws IOException {
    Awaitility.setDefaultTimeout(Duration.ofMinutes(1)); // a machine may be busy
    Path disk = Path.of(args[0]);
    CrashSite site = new CrashSite(new InstanceId("d" + SandboxId.random(RANDOM)), disk, List.of());
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
      FullDiskChild child = new FullDiskChild(disk, server);
      for (Failpoint point : Failpoint.values()) {
        child.round(point);
      }
      assertThat(child.reached).containsAll(PASSED);
      assertThat(log.infos).contains("sandboxes are created again: the disks have space");
    }
    System.out.println(SmallDisk.DONE);
  }

  private void observe(Failpoint point) {
    if (next.compareAndSet(point, null)) {
      reached.add(point);
      SmallDisk.fill(filler);
    }
  }

  private void round(Failpoint point) throws IOException {
    SandboxId kept = create(Optional.empty()).orElseThrow();
    SandboxId expiring = create(Optional.of(SHORT)).orElseThrow();
    SandboxId used = create(Optional.empty()).orElseThrow();
    List<SandboxId> all = new ArrayList<>(List.of(kept, expiring, used));
    next.set(point);
    create(Optional.empty()).ifPresent(all::add);
    try {
      SandboxView _ = engine.sandboxes().renew(kept, Duration.ofHours(2));
    } catch (SandboxException full) {
      expectFull(full, point);
    }
    engine.sandboxes().destroy(kept, DestroyOptions.FORCE);
    if (!point.name().startsWith("EXPIRY_")) {
      next.set(null);
      SmallDisk.fill(filler);
    }
    await()
        .alias("expiry at " + point)
        .until(
            () -> {
              Sandbox _ =
                  engine.sandboxes().get(used); // what cannot be written keeps nothing from ending
              return state(expiring) == SandboxState.DESTROYED;
            });
    next.set(null);
    SmallDisk.fill(filler);
    assertThat(create(Optional.empty())).as("a create on a full disk").isEmpty();
    assertThat(engine.readiness().isReady()).isFalse();
    for (SandboxId id : all) {
      engine.sandboxes().destroy(id, DestroyOptions.FORCE);
      assertThat(state(id))
          .as("%s, acknowledged before %s", id, point)
          .isEqualTo(SandboxState.DESTROYED);
    }
    List<SandboxEntry> entries =
        server.ledger.sandboxes().listAll(EntryFilter.ALL).stream()
            .filter(entry -> entry.state() != SandboxState.DESTROYED)
            .toList();
    assertThat(entries).as("%s", point).isEmpty();
    Files.delete(filler);
    await().alias("recovery after " + point).until(() -> engine.readiness().isReady());
  }

  private SandboxState state(SandboxId id) {
    return engine.sandboxes().view(id).state();
  }

  /** Creates a sandbox; empty if the disk is full, after which nothing of it may be left. */
  private Optional<SandboxId> create(Optional<Duration> ttl) {
    SandboxSpec spec = SandboxSpec.builder(SandboxId.random(RANDOM)).build();
    CreateRequest request = CreateRequest.of(spec, "subprocess");
    try {
      return Optional.of(
          engine
              .creator()
              .create(
                  SandboxRequest.of(ttl.map(request::withTtl).orElse(request))
                      .withIdempotencyKey(spec.id().value()))
              .view()
              .id());
    } catch (SandboxException e) {
      expectFull(e, next.get());
      return Optional.empty();
    }
  }

  private static void expectFull(SandboxException failure, @Nullable Failpoint point) {
    assertThat(failure.code())
        .as("%s: %s", point, failure.fault())
        .isIn(ErrorCode.DISK_FULL, ErrorCode.SPAWN_FAILED);
  }
}
