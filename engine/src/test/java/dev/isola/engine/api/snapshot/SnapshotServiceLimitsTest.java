package dev.isola.engine.api.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.codec.tar.TarEntry;
import dev.isola.codec.tar.TarStream;
import dev.isola.document.request.CreateRequest;
import dev.isola.engine.FakeClock;
import dev.isola.engine.FakeLog;
import dev.isola.engine.admission.AdmissionControl;
import dev.isola.engine.admission.CapacityPool;
import dev.isola.engine.api.RecentErrors;
import dev.isola.engine.api.Resources;
import dev.isola.engine.api.SnapshotReport;
import dev.isola.engine.api.SnapshotRequest;
import dev.isola.engine.api.event.EventLog;
import dev.isola.engine.api.registry.ProviderRegistry;
import dev.isola.engine.lifecycle.ActivityTracker;
import dev.isola.engine.lifecycle.LiveSandboxes;
import dev.isola.engine.lifecycle.SandboxNetworks;
import dev.isola.engine.lifecycle.SandboxRecorder;
import dev.isola.engine.lifecycle.SecretEnvStore;
import dev.isola.engine.metrics.Instrumentation;
import dev.isola.engine.metrics.MetricsRecorder;
import dev.isola.engine.peer.Ownership;
import dev.isola.engine.secret.EncryptionKeys;
import dev.isola.engine.secret.SealedSettings;
import dev.isola.engine.snapshot.LazySnapshotStore;
import dev.isola.engine.snapshot.MemoryCapturer;
import dev.isola.engine.snapshot.MemoryForkPolicy;
import dev.isola.engine.spec.SpecCodec;
import dev.isola.spi.InstanceId;
import dev.isola.spi.Isolation;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.capability.UsageReporting.Usage;
import dev.isola.spi.error.DeadlineExceeded;
import dev.isola.spi.error.LimitExceeded;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.file.TreeSummary;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.store.Ledger;
import dev.isola.store.LedgerConfig;
import dev.isola.store.Ledgers;
import dev.isola.store.SandboxEntry;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What one sandbox may take of the snapshot service, so that it does not stop the others. */
@Timeout(300)
class SnapshotServiceLimitsTest {
  static {
    Awaitility.setDefaultTimeout(Duration.ofMinutes(1)); // a machine may be busy
  }

  @TempDir Path folder;
  private final FakeClock clock = new FakeClock();
  private final FakeLog log = new FakeLog();
  private final AtomicLong nanoTime = new AtomicLong(17);
  private final CountDownLatch never = new CountDownLatch(1);
  private final AtomicInteger captures = new AtomicInteger();
  private final List<FutureTask<SnapshotReport>> started = new ArrayList<>();
  private Ledger ledger;
  private ProviderRegistry registry;
  private AdmissionControl admission;
  private LiveSandboxes live;
  private LazySnapshotStore store;
  private SnapshotService service;

  @BeforeEach
  void open() {
    ledger = Ledgers.open(LedgerConfig.sqlite(folder.resolve("ledger")));
    EventLog events = new EventLog(ledger);
    registry =
        ProviderRegistry.open(
            List.of(),
            Map.of(),
            name -> new ProviderContext(new InstanceId("limits"), folder, clock),
            clock,
            log);
    admission =
        new AdmissionControl(
            new CapacityPool(new Resources(1_000_000, 1_000_000), Duration.ZERO, clock), Map.of());
    live = new LiveSandboxes(registry, admission, new NoNetworks(), Ownership.ALONE);
    store = new LazySnapshotStore(folder.resolve("snapshots"), "", Optional.empty());
    service =
        new SnapshotService(
            store,
            new SandboxRecorder(ledger, events, Ownership.ALONE, clock),
            live,
            new MemoryCapturer(
                new MemoryForkPolicy(registry, List::of),
                new SecretEnvStore(
                    ledger,
                    new SealedSettings(
                        ledger,
                        EncryptionKeys.open(folder, Optional.empty(), Optional.empty(), Map.of()))),
                log),
            events,
            new Instrumentation(
                MetricsRecorder.NOOP, new ActivityTracker(), new RecentErrors(clock)),
            clock,
            nanoTime::get,
            log);
  }

  @AfterEach
  void close() {
    never.countDown();
    await().until(() -> started.stream().allMatch(FutureTask::isDone));
    store.close();
    registry.close();
    ledger.close();
  }

  @Test
  void capturesOfOneSandboxFollowEachOther() throws Exception {
    SandboxId id = sandbox("one", this::stalled);
    FutureTask<SnapshotReport> first = start(id);
    await().until(() -> captures.get() == 1);
    FutureTask<SnapshotReport> second = snapshot(id);
    Thread waiting = Thread.ofVirtual().start(second);
    await().until(() -> waiting.getState() == Thread.State.TIMED_WAITING);
    assertThat(captures).hasValue(1);
    never.countDown();
    assertThat(first.get(60, TimeUnit.SECONDS).snapshot().files()).isZero();
    assertThat(second.get(60, TimeUnit.SECONDS).snapshot().files()).isZero();
    assertThat(captures).hasValue(2);
  }

  @Test
  void archiveThatNeverEndsIsEndedAndTheNextSnapshotIsTaken() {
    SandboxId id = sandbox("endless", this::endless);
    assertThatThrownBy(() -> service.create(id, SnapshotRequest.WORKSPACE))
        .isInstanceOf(DeadlineExceeded.class)
        .hasMessageContaining("30 min");
    SandboxId other = sandbox("other", SnapshotServiceLimitsTest::empty);
    assertThat(service.create(other, SnapshotRequest.WORKSPACE).snapshot().files()).isZero();
    service.collect();
  }

  @Test
  void sparseFileOfTerabytesIsRefused() {
    SandboxId id = sandbox("sparse", () -> archive(8L << 40, endless()));
    assertThatThrownBy(() -> service.create(id, SnapshotRequest.WORKSPACE))
        .isInstanceOf(LimitExceeded.class)
        .hasMessageContaining("holes included");
    assertThat(nanoTime).as("nothing of it was read").hasValue(17);
  }

  /** As on a full disk, where the ledger refuses events. */
  @Test
  void snapshotThatCannotBeRecordedIsRemoved() {
    SandboxId id =
        sandbox(
            "unrecorded",
            () -> {
              ledger.close();
              return empty();
            });
    assertThatThrownBy(() -> service.create(id, SnapshotRequest.WORKSPACE))
        .isInstanceOf(SandboxException.class);
    assertThat(service.list()).isEmpty();
  }

  /** The reason of a failure is told, also if it cannot be recorded. */
  @Test
  void failureThatCannotBeRecordedIsStillTold() {
    SandboxId id =
        sandbox(
            "sparse",
            () -> {
              ledger.close();
              return archive(8L << 40, endless());
            });
    assertThatThrownBy(() -> service.create(id, SnapshotRequest.WORKSPACE))
        .isInstanceOf(LimitExceeded.class)
        .hasMessageContaining("holes included");
  }

  /** More sandboxes than the store has room for send nothing. */
  @Test
  void capturesThatStallAreEndedWhileOthersWait() {
    List<FutureTask<SnapshotReport>> stalled = new ArrayList<>();
    while (!store.get().isAwaited()) {
      int before = captures.get();
      stalled.add(start(sandbox("stalled" + stalled.size(), this::stalled)));
      await().until(() -> captures.get() > before || store.get().isAwaited());
    }
    nanoTime.addAndGet(CaptureWatchdog.GRACE.toNanos() + 1);
    await().until(() -> captures.get() == stalled.size());
    await().until(() -> stalled.stream().anyMatch(FutureTask::isDone));
    assertThat(stalled.stream().filter(FutureTask::isDone))
        .as("captures that made room for the one that waited")
        .allSatisfy(
            one ->
                assertThatThrownBy(one::get)
                    .hasCauseInstanceOf(DeadlineExceeded.class)
                    .hasMessageContaining("read too slowly while other snapshots waited"));
  }

  private FutureTask<SnapshotReport> start(SandboxId id) {
    FutureTask<SnapshotReport> task = snapshot(id);
    Thread.ofVirtual().start(task);
    return task;
  }

  private FutureTask<SnapshotReport> snapshot(SandboxId id) {
    FutureTask<SnapshotReport> task =
        new FutureTask<>(() -> service.create(id, SnapshotRequest.WORKSPACE));
    started.add(task);
    return task;
  }

  private SandboxId sandbox(String name, Supplier<InputStream> archive) {
    SandboxId id = new SandboxId(name);
    SandboxSpec spec = SandboxSpec.builder(id).build();
    SandboxEntry intent =
        SandboxEntry.intent(
                id,
                SpecCodec.encode(CreateRequest.of(spec, "docker")),
                "hash",
                "docker",
                Isolation.CONTAINER,
                clock.instant())
            .build();
    ledger.atomically(
        parts ->
            parts
                .sandboxes()
                .update(
                    parts
                        .sandboxes()
                        .insert(intent)
                        .withState(SandboxState.RUNNING, clock.instant())));
    live.add(
        new HostileSandbox(id, archive), admission.admit(List.of("docker"), new Resources(1, 1)));
    return id;
  }

  /** An archive that does not come until the end of the test. */
  private InputStream stalled() {
    return new FilterInputStream(empty()) {
      @Override
      public int read() throws IOException {
        awaitEnd();
        return super.read();
      }

      @Override
      public int read(byte[] to, int offset, int length) throws IOException {
        awaitEnd();
        return super.read(to, offset, length);
      }
    };
  }

  private void awaitEnd() throws IOException {
    try {
      never.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ClosedByInterruptException();
    }
  }

  private static InputStream empty() {
    return new TarStream(Collections.emptyIterator());
  }

  /** A file without an end, of which every byte takes a minute. */
  private InputStream endless() {
    return archive(
        1 << 20,
        new InputStream() {
          @Override
          public int read() {
            nanoTime.addAndGet(Duration.ofMinutes(1).toNanos());
            return 'x';
          }

          @Override
          public int read(byte[] to, int offset, int length) {
            to[offset] = (byte) read();
            return 1;
          }
        });
  }

  private static InputStream archive(long size, InputStream content) {
    TarEntry entry = new TarEntry("file", TarEntry.Kind.FILE, "", 0644, 0, 0, size, 0, 0, Map.of());
    return new TarStream(
        List.<TarStream.Item>of(
                new TarStream.Item() {
                  @Override
                  public TarEntry entry() {
                    return entry;
                  }

                  @Override
                  public InputStream content() {
                    return content;
                  }
                })
            .iterator());
  }

  private static final class NoNetworks implements SandboxNetworks {
    @Override
    public void attach(Sandbox sandbox, SandboxSpec spec, String provider) {}

    @Override
    public Usage withTraffic(SandboxId id, Usage usage) {
      return usage;
    }

    @Override
    public void detach(SandboxId id) {}
  }

  /** A sandbox that sends what it likes as its files. */
  private final class HostileSandbox implements Sandbox, Snapshotting {
    private final SandboxId id;
    private final Supplier<InputStream> archive;

    HostileSandbox(SandboxId id, Supplier<InputStream> archive) {
      this.id = id;
      this.archive = archive;
    }

    @Override
    public SandboxId id() {
      return id;
    }

    @Override
    public SandboxState state() {
      return SandboxState.RUNNING;
    }

    @Override
    public Execution start(Command command) {
      throw new UnsupportedOperationException();
    }

    @Override
    public FileSystem files() {
      throw new UnsupportedOperationException();
    }

    @Override
    public <C extends Capability> Optional<C> as(Class<C> capability) {
      return capability == Snapshotting.class
          ? Optional.of(capability.cast(this))
          : Optional.empty();
    }

    @Override
    public Capture capture(CaptureRequest request) {
      captures.incrementAndGet();
      InputStream content = archive.get();
      return new Capture() {
        @Override
        public InputStream archive() {
          return content;
        }

        @Override
        public CaptureResult result() {
          return new CaptureResult(0, Duration.ZERO);
        }

        @Override
        public void close() {}
      };
    }

    @Override
    public Optional<Coverage> coverage() {
      return Optional.empty();
    }

    @Override
    public TreeSummary restoreChanges(InputStream changes, TreeLimits limits) {
      throw new UnsupportedOperationException();
    }

    @Override
    public TreeSummary restore(String path, InputStream files, TreeLimits limits)
        throws SandboxException {
      throw new UnsupportedOperationException();
    }
  }
}
