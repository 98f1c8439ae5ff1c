package dev.isola.engine.snapshot;

import dev.isola.codec.json.Json;
import dev.isola.engine.api.IsolaVersion;
import dev.isola.engine.api.Log;
import dev.isola.engine.event.EventLog;
import dev.isola.engine.lifecycle.ActivityTracker;
import dev.isola.engine.lifecycle.LiveSandboxes;
import dev.isola.engine.lifecycle.SandboxRecorder;
import dev.isola.engine.lifecycle.SpecCodec;
import dev.isola.engine.lifecycle.SuspensionState;
import dev.isola.engine.metrics.EngineOperation;
import dev.isola.engine.metrics.Instrumentation;
import dev.isola.snapshot.SnapshotDiff;
import dev.isola.snapshot.SnapshotStore;
import dev.isola.snapshot.SnapshotWriter;
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
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.store.NewEvent;
import dev.isola.store.SandboxEntry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Takes, lists and removes snapshots of sandboxes. Thread-safe. */
public final class SnapshotService {
  private static final SecureRandom RANDOM = new SecureRandom();

  private final LazySnapshotStore store;
  private final SandboxRecorder book;
  private final LiveSandboxes living;
  private final EventLog events;
  private final Instrumentation measured;
  private final InstantSource clock;
  private final Log log;

  public SnapshotService(
      LazySnapshotStore store,
      SandboxRecorder book,
      LiveSandboxes living,
      EventLog events,
      Instrumentation measured,
      InstantSource clock,
      Log log) {
    this.store = store;
    this.book = book;
    this.living = living;
    this.events = events;
    this.measured = measured;
    this.clock = clock;
    this.log = log;
  }

  /**
   * Takes a snapshot of a running sandbox. If this throws, there is no snapshot, and the sandbox
   * keeps running.
   *
   * @throws dev.isola.spi.error.LimitExceeded with {@code DISK_FULL} if the store is full
   */
  public SnapshotReport create(SandboxId id, SnapshotRequest order) {
    SandboxEntry entry = book.require(id);
    return measured.measure(
        EngineOperation.SNAPSHOT,
        entry.provider(),
        () -> {
          try (ActivityTracker.Activity _ = measured.activity().begin(id)) {
            SnapshotReport report = capture(entry, order);
            Snapshot made = report.snapshot();
            measured
                .recorder()
                .recordSnapshot(
                    entry.provider(), made.bytes(), made.newBytes(), made.storedBytes());
            appendEvent(id, "snapshot", created(report));
            return report;
          } catch (SandboxException e) {
            appendEvent(
                id, "snapshotFailed", Map.of("code", e.code().name(), "why", e.fault().problem()));
            throw e;
          }
        });
  }

  private SnapshotReport capture(SandboxEntry entry, SnapshotRequest order) {
    Sandbox sandbox = living.get(entry);
    Snapshotting pictures =
        sandbox
            .as(Snapshotting.class)
            .orElseThrow(() -> Capability.unsupported(entry.provider(), "snapshotting"));
    SandboxSpec spec = SpecCodec.decode(entry.spec(), entry.id()).spec();
    Optional<Coverage> written =
        order.scope() == SnapshotRequest.Scope.EVERYTHING ? pictures.coverage() : Optional.empty();
    String root = written.isPresent() ? "/" : order.path().orElse(spec.workspaceMount());
    try (SnapshotWriter taking = store.get().newWriter()) {
      Optional<SnapshotBase> line =
          SnapshotBase.read(store.basesFolder(), entry.id())
              .filter(one -> continues(one, root, order));
      Map<String, SnapshotWriter.StagedFile> known =
          line.map(one -> heldByMark(one, taking)).orElse(Map.of());
      CaptureProgress progress =
          new CaptureProgress(
              bytes -> appendEvent(entry.id(), "snapshotProgress", Map.of("bytes", bytes)));
      SnapshotCapturer.Result result =
          new SnapshotCapturer(sandbox, pictures, progress)
              .capture(
                  new CaptureRequest(
                      root,
                      order.includes(),
                      order.excludes(),
                      line.map(SnapshotBase::moment).orElse(0L),
                      false,
                      written),
                  taking,
                  known);
      result.files().entries().forEach(taking::add);
      Snapshot made =
          taking.finish(
              counts ->
                  new Snapshot(
                      newId(),
                      clock.instant(),
                      entry.id().value(),
                      entry.provider(),
                      IsolaVersion.current(),
                      System.getProperty("os.arch"),
                      order.tags(),
                      known.isEmpty() ? Optional.empty() : line.map(SnapshotBase::snapshot),
                      root,
                      order.includes(),
                      order.excludes(),
                      counts.files(),
                      counts.bytes(),
                      counts.newBytes(),
                      counts.storedBytes(),
                      counts.checksum(),
                      Snapshot.Kind.FILESYSTEM,
                      baseImage(entry),
                      written.map(
                          all -> new Snapshot.SnapshotCoverage(all.image(), all.folders()))));
      saveBase(entry.id(), made, result);
      return new SnapshotReport(made, result.held(), result.incremental(), result.readBytes());
    }
  }

  private static boolean continues(SnapshotBase line, String root, SnapshotRequest order) {
    return line.moment() > 0
        && line.root().equals(root)
        && line.includes().equals(order.includes())
        && line.excludes().equals(order.excludes());
  }

  /**
   * Returns the files of the previous snapshot by change marker. Call it with an open writer, which
   * protects them from garbage collection.
   */
  private Map<String, SnapshotWriter.StagedFile> heldByMark(
      SnapshotBase line, SnapshotWriter taking) {
    try {
      List<SnapshotEntry> entries = store.get().entries(line.snapshot());
      if (entries.size() != line.marks().size()) {
        return Map.of();
      }
      Map<String, SnapshotWriter.StagedFile> byMark = new java.util.HashMap<>();
      for (int i = 0; i < entries.size(); i++) {
        if (!line.marks().get(i).isEmpty()) {
          byMark.put(line.marks().get(i), taking.stage(entries.get(i)));
        }
      }
      return byMark;
    } catch (SandboxException removedOrDamaged) {
      return Map.of();
    }
  }

  /** Returns the base image of a sandbox; for a restored one, that of its snapshot. */
  Optional<String> baseImage(SandboxEntry entry) {
    return entry.baseImage().isEmpty()
        ? new SnapshotImages(store, measured)
            .baseSpec(SpecCodec.decode(entry.spec(), entry.id()).spec())
            .image()
        : entry.baseImage().filter(image -> !image.isEmpty());
  }

  private void saveBase(SandboxId id, Snapshot made, SnapshotCapturer.Result result) {
    try {
      new SnapshotBase(
              made.id(),
              result.moment(),
              made.root(),
              made.includes(),
              made.excludes(),
              result.files().marks())
          .write(store.basesFolder(), id);
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

  /** Returns the differences between the files of two snapshots. */
  public SnapshotDiff difference(String from, String to) {
    SnapshotStore open = store.get();
    return SnapshotDiff.between(open.entries(from), open.entries(to));
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
      String name = one.tags().get(SnapshotSuspensionStorage.TAG);
      if (name == null
          || !name.equals(one.sandbox())
          || living.isInTransition(new SandboxId(name))) {
        continue;
      }
      Optional<String> kept = book.find(new SandboxId(name)).flatMap(SuspensionState::snapshot);
      if (!kept.equals(Optional.of(one.id()))) {
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
            name.matches("[a-z0-9]{1,32}") ? book.find(new SandboxId(name)) : Optional.empty();
        if (entry.filter(one -> one.state() != SandboxState.DESTROYED).isEmpty()) {
          Files.deleteIfExists(file);
        }
      }
    } catch (IOException | SandboxException e) {
      log.warning("snapshot bases of destroyed sandboxes could not be removed: " + e.getMessage());
    }
  }
}
