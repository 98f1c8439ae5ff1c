package dev.isola.engine.api.snapshot;

import dev.isola.codec.json.Json;
import dev.isola.engine.api.IsolaVersion;
import dev.isola.engine.api.Log;
import dev.isola.engine.api.SnapshotKinds;
import dev.isola.engine.api.SnapshotReport;
import dev.isola.engine.api.SnapshotRequest;
import dev.isola.engine.api.event.EventLog;
import dev.isola.engine.lifecycle.ActivityTracker;
import dev.isola.engine.lifecycle.ExclusiveOperation;
import dev.isola.engine.lifecycle.LiveSandboxes;
import dev.isola.engine.lifecycle.SandboxRecorder;
import dev.isola.engine.lifecycle.SuspensionState;
import dev.isola.engine.metrics.EngineOperation;
import dev.isola.engine.metrics.Instrumentation;
import dev.isola.engine.snapshot.CaptureProgress;
import dev.isola.engine.snapshot.LazySnapshotStore;
import dev.isola.engine.snapshot.MemoryCapturer;
import dev.isola.engine.snapshot.MemorySnapshotResolver;
import dev.isola.engine.snapshot.SnapshotImages;
import dev.isola.engine.snapshot.SuspensionTags;
import dev.isola.engine.snapshot.TimeLimit;
import dev.isola.engine.spec.SpecCodec;
import dev.isola.snapshot.SnapshotArchives.KnownFiles;
import dev.isola.snapshot.SnapshotDiff;
import dev.isola.snapshot.SnapshotEntries;
import dev.isola.snapshot.SnapshotStore;
import dev.isola.snapshot.SnapshotWriter;
import dev.isola.snapshot.StagedEntries;
import dev.isola.snapshot.chunk.ChunkStore.GarbageStats;
import dev.isola.snapshot.manifest.Snapshot;
import dev.isola.snapshot.manifest.SnapshotEntry;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.capability.Snapshotting.CaptureRequest;
import dev.isola.spi.capability.Snapshotting.Coverage;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.store.NewEvent;
import dev.isola.store.SandboxEntry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/** Takes, lists and removes snapshots of sandboxes. Thread-safe. */
public final class SnapshotService {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final Duration CAPTURE_WAIT = Duration.ofSeconds(60);

  private final LazySnapshotStore store;
  private final SandboxRecorder recorder;
  private final LiveSandboxes liveSandboxes;
  private final MemoryCapturer memory;
  private final EventLog events;
  private final Instrumentation instrumentation;
  private final InstantSource clock;
  private final LongSupplier nanoTime;
  private final Log log;

  /**
   * @param nanoTime what the time of a capture is measured with
   */
  public SnapshotService(
      LazySnapshotStore store,
      SandboxRecorder recorder,
      LiveSandboxes liveSandboxes,
      MemoryCapturer memory,
      EventLog events,
      Instrumentation instrumentation,
      InstantSource clock,
      LongSupplier nanoTime,
      Log log) {
    this.store = store;
    this.recorder = recorder;
    this.liveSandboxes = liveSandboxes;
    this.memory = memory;
    this.events = events;
    this.instrumentation = instrumentation;
    this.clock = clock;
    this.nanoTime = nanoTime;
    this.log = log;
  }

  /**
   * Takes a snapshot of a running sandbox. If this throws, there is no snapshot, and the sandbox
   * keeps running.
   *
   * @throws dev.isola.spi.error.LimitExceeded with {@code DISK_FULL} if the store is full
   * @throws dev.isola.spi.error.Unsupported if its provider does not take snapshots of this kind
   * @throws dev.isola.spi.error.Conflict if memory is requested and the sandbox has secret
   *     variables that the request does not allow, or holds something that cannot be saved
   */
  public SnapshotReport create(SandboxId id, SnapshotRequest request) {
    SandboxEntry entry = recorder.require(id);
    return instrumentation.measure(
        EngineOperation.SNAPSHOT,
        entry.provider(),
        () -> {
          try (ActivityTracker.Activity _ = instrumentation.activity().begin(id);
              LiveSandboxes.Operation _ =
                  liveSandboxes.begin(id, ExclusiveOperation.SNAPSHOT, CAPTURE_WAIT)) {
            SnapshotReport report =
                switch (request.kind()) {
                  case FILESYSTEM -> capture(entry, request);
                  case MEMORY -> captureMemory(entry, request);
                };
            record(entry, report);
            return report;
          } catch (SandboxException e) {
            recordFailure(id, e);
            throw e;
          }
        });
  }

  /** Records a snapshot, which is removed if that fails, as it does where the ledger is full. */
  private void record(SandboxEntry entry, SnapshotReport report) {
    Snapshot created = report.snapshot();
    try {
      appendEvent(entry.id(), "snapshot", created(report));
    } catch (SandboxException e) {
      try {
        store.get().remove(created.id());
      } catch (SandboxException left) {
        e.addSuppressed(left);
      }
      throw e;
    }
    instrumentation
        .recorder()
        .recordSnapshot(
            entry.provider(), created.bytes(), created.newBytes(), created.storedBytes());
  }

  private void recordFailure(SandboxId id, SandboxException failure) {
    try {
      appendEvent(
          id,
          "snapshotFailed",
          Map.of("code", failure.code().name(), "why", failure.fault().problem()));
    } catch (SandboxException notRecorded) {
      failure.addSuppressed(notRecorded); // a full disk must not hide what has failed
    }
  }

  private SnapshotReport captureMemory(SandboxEntry entry, SnapshotRequest request) {
    memory.requireAllowed(entry, request.allowSecrets());
    Sandbox sandbox = liveSandboxes.get(entry);
    try (SnapshotWriter writer = store.get().newWriter()) {
      MemoryCapturer.Result result = memory.capture(entry, sandbox, progress(entry.id()), writer);
      Snapshot created =
          writer.finish(
              counts ->
                  new Snapshot(
                      newId(),
                      clock.instant(),
                      entry.id().value(),
                      entry.provider(),
                      IsolaVersion.current(),
                      System.getProperty("os.arch"),
                      request.tags(),
                      Optional.empty(),
                      "/",
                      List.of(),
                      List.of(),
                      counts.files(),
                      counts.bytes(),
                      counts.newBytes(),
                      counts.storedBytes(),
                      counts.checksum(),
                      Snapshot.Kind.MEMORY,
                      baseImage(entry),
                      Optional.empty(),
                      Optional.of(result.source())));
      return new SnapshotReport(created, result.held(), false, result.readBytes());
    }
  }

  private CaptureProgress progress(SandboxId id) {
    return new CaptureProgress(
        bytes -> appendEvent(id, "snapshotProgress", Map.of("bytes", bytes)));
  }

  private SnapshotReport capture(SandboxEntry entry, SnapshotRequest request) {
    Sandbox sandbox = liveSandboxes.get(entry);
    Snapshotting snapshotting =
        sandbox
            .as(Snapshotting.class)
            .orElseThrow(() -> Capability.unsupported(entry.provider(), "snapshotting"));
    SandboxSpec spec = SpecCodec.decode(entry.spec(), entry.id()).spec();
    Optional<Coverage> coverage =
        request.scope() == SnapshotRequest.Scope.EVERYTHING
            ? snapshotting.coverage()
            : Optional.empty();
    String root = coverage.isPresent() ? "/" : request.path().orElse(spec.workspaceMount());
    try (SnapshotWriter writer = store.get().newWriter();
        StagedEntries previous = writer.newEntries()) {
      Optional<SnapshotBase> base =
          SnapshotBase.read(store.basesFolder(), entry.id())
              .filter(one -> isBaseFor(one, root, request));
      Optional<KnownFiles> known =
          base.filter(one -> readPrevious(one, entry.id(), writer, previous))
              .map(_ -> previous::find);
      CaptureRequest files =
          new CaptureRequest(
              root,
              request.includes(),
              request.excludes(),
              base.map(SnapshotBase::moment).orElse(0L),
              false,
              coverage,
              true);
      String what = "the files of sandbox " + entry.id();
      TimeLimit time = new TimeLimit(what, nanoTime);
      CaptureWatchdog watchdog = new CaptureWatchdog(what, store.get()::isAwaited, nanoTime);
      SnapshotCapturer capturer =
          new SnapshotCapturer(sandbox, snapshotting, progress(entry.id()), time, watchdog);
      try (SnapshotCapturer.Result result =
          watchdog.run(() -> capturer.capture(files, writer, known))) {
        writer.addAll(result.files().entries());
        Snapshot created = finish(entry, request, writer, root, coverage, known.flatMap(_ -> base));
        saveBase(entry.id(), created, result);
        return new SnapshotReport(created, result.held(), result.incremental(), result.readBytes());
      }
    }
  }

  private Snapshot finish(
      SandboxEntry entry,
      SnapshotRequest request,
      SnapshotWriter writer,
      String root,
      Optional<Coverage> coverage,
      Optional<SnapshotBase> base) {
    return writer.finish(
        counts ->
            new Snapshot(
                newId(),
                clock.instant(),
                entry.id().value(),
                entry.provider(),
                IsolaVersion.current(),
                System.getProperty("os.arch"),
                request.tags(),
                base.map(SnapshotBase::snapshot),
                root,
                request.includes(),
                request.excludes(),
                counts.files(),
                counts.bytes(),
                counts.newBytes(),
                counts.storedBytes(),
                counts.checksum(),
                Snapshot.Kind.FILESYSTEM,
                baseImage(entry),
                coverage.map(all -> new Snapshot.SnapshotCoverage(all.image(), all.folders())),
                Optional.empty()));
  }

  private static boolean isBaseFor(SnapshotBase base, String root, SnapshotRequest request) {
    return base.moment() > 0
        && base.root().equals(root)
        && base.includes().equals(request.includes())
        && base.excludes().equals(request.excludes());
  }

  /**
   * Adds the files of the previous snapshot with their change markers to {@code previous}. Call it
   * with an open writer, which protects them from garbage collection.
   *
   * @return false if they are not known, or are too many
   */
  private boolean readPrevious(
      SnapshotBase base, SandboxId id, SnapshotWriter writer, StagedEntries previous) {
    try (SnapshotEntries entries = store.get().entries(base.snapshot());
        SnapshotBase.Marks marks =
            new SnapshotBase.Marks(store.basesFolder(), id, base.snapshot())) {
      for (SnapshotEntry entry : entries) {
        String mark = marks.next();
        if (!mark.isEmpty()) {
          previous.add(mark, writer.stage(entry));
        }
      }
      return previous.count() > 0 && previous.index();
    } catch (IOException | SandboxException removedOrDamaged) {
      return false;
    }
  }

  /** Returns the base image of a sandbox; for a restored one, that of its snapshot. */
  public Optional<String> baseImage(SandboxEntry entry) {
    return entry.baseImage().isEmpty()
        ? SnapshotImages.baseSpec(store, SpecCodec.decode(entry.spec(), entry.id()).spec()).image()
        : entry.baseImage().filter(image -> !image.isEmpty());
  }

  private void saveBase(SandboxId id, Snapshot created, SnapshotCapturer.Result result) {
    try {
      new SnapshotBase(
              created.id(), result.moment(), created.root(), created.includes(), created.excludes())
          .write(
              store.basesFolder(),
              id,
              result.files().entries().count(),
              result.files().entries().keys());
    } catch (IOException e) {
      log.warning("the next snapshot of " + id + " will not be incremental: " + e.getMessage());
    }
  }

  private static String newId() {
    byte[] bytes = new byte[8];
    RANDOM.nextBytes(bytes);
    return "s" + HexFormat.of().formatHex(bytes);
  }

  private static Map<String, Object> created(SnapshotReport report) {
    Map<String, Object> data = new LinkedHashMap<>();
    data.put("snapshot", report.snapshot().id());
    data.put("kind", SnapshotKinds.wireName(report.snapshot().kind()));
    data.put("files", report.snapshot().files());
    data.put("bytes", report.snapshot().bytes());
    data.put("newBytes", report.snapshot().newBytes());
    data.put("heldMs", report.held().toMillis());
    data.put("incremental", report.incremental());
    return data;
  }

  private void appendEvent(SandboxId id, String type, Map<String, ?> data) {
    events.append(NewEvent.of(id, type, Json.text(data), clock.instant()));
  }

  /** Returns the folder for temporary files. */
  Path scratchFolder() {
    return store.scratchFolder();
  }

  /** Returns all snapshots, oldest first. */
  public List<Snapshot> list() {
    return store.get().list();
  }

  /**
   * Returns a snapshot.
   *
   * @throws NotFound if there is no such snapshot
   */
  public Snapshot get(String id) {
    return store.get().get(id);
  }

  /**
   * Returns the differences between the files of two snapshots.
   *
   * @throws dev.isola.spi.error.InvalidRequest if one of them is of memory, whose files only its
   *     provider can read
   */
  public SnapshotDiff difference(String from, String to) {
    SnapshotStore open = store.get();
    for (String id : List.of(from, to)) {
      if (SnapshotImages.isMemory(open.get(id))) {
        throw Fault.of(
                ErrorCode.INVALID_REQUEST,
                "snapshot " + id + " is of kind memory, whose files cannot be compared",
                "compare snapshots of kind filesystem")
            .with("snapshot", id)
            .exception();
      }
    }
    return open.difference(from, to);
  }

  /** Returns the only provider for a spec whose image contains processes; otherwise empty. */
  public Optional<String> requiredProvider(SandboxSpec spec) {
    return new MemorySnapshotResolver(store).requiredProvider(spec);
  }

  /** Removes a snapshot. {@link #collect} frees its space. */
  public void remove(String id) {
    store.get().remove(id);
  }

  /** Frees the space that no snapshot uses. */
  public GarbageStats collect() {
    removeStaleBases();
    removeStaleSuspensions();
    return store.get().collectGarbage();
  }

  /** Removes suspension snapshots that a crash left behind: their sandboxes are not suspended. */
  private void removeStaleSuspensions() {
    for (Snapshot one : list()) {
      String name = one.tags().get(SuspensionTags.SANDBOX);
      if (name == null
          || !name.equals(one.sandbox())
          || liveSandboxes.isInTransition(new SandboxId(name))) {
        continue;
      }
      Optional<String> kept = recorder.find(new SandboxId(name)).flatMap(SuspensionState::snapshot);
      if (kept.isEmpty() || !SuspensionTags.ids(kept.get(), this::get).contains(one.id())) {
        remove(one.id());
      }
    }
  }

  private void removeStaleBases() {
    if (!Files.isDirectory(store.basesFolder())) {
      return;
    }
    try (Stream<Path> files = Files.list(store.basesFolder())) {
      for (Path file : files.toList()) {
        String name = String.valueOf(file.getFileName());
        Optional<SandboxEntry> entry =
            name.matches("[a-z0-9]{1,32}") ? recorder.find(new SandboxId(name)) : Optional.empty();
        if (entry.filter(one -> one.state() != SandboxState.DESTROYED).isEmpty()) {
          Files.deleteIfExists(file);
        }
      }
    } catch (IOException | SandboxException e) {
      log.warning("snapshot bases of destroyed sandboxes could not be removed: " + e.getMessage());
    }
  }
}
