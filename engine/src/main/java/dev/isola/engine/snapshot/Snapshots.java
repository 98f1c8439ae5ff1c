package dev.isola.engine.snapshot;

import dev.isola.codec.json.Json;
import dev.isola.engine.api.IsolaVersion;
import dev.isola.engine.api.Log;
import dev.isola.engine.event.EventLog;
import dev.isola.engine.lifecycle.Book;
import dev.isola.engine.lifecycle.Living;
import dev.isola.engine.lifecycle.SpecText;
import dev.isola.engine.lifecycle.SuspensionState;
import dev.isola.engine.lifecycle.Uses;
import dev.isola.engine.metrics.Deed;
import dev.isola.engine.metrics.Measured;
import dev.isola.snapshot.Difference;
import dev.isola.snapshot.SnapshotStore;
import dev.isola.snapshot.Taking;
import dev.isola.snapshot.chunk.ChunkStore.Swept;
import dev.isola.snapshot.manifest.Entry;
import dev.isola.snapshot.manifest.Snapshot;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.capability.Snapshotting.Coverage;
import dev.isola.spi.capability.Snapshotting.Wanted;
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

/** Takes snapshots of sandboxes, and keeps them. All methods may be called from any thread. */
public final class Snapshots {
  private static final SecureRandom RANDOM = new SecureRandom();

  private final OpenedStore store;
  private final Book book;
  private final Living living;
  private final EventLog events;
  private final Measured measured;
  private final InstantSource clock;
  private final Log log;

  public Snapshots(
      OpenedStore store,
      Book book,
      Living living,
      EventLog events,
      Measured measured,
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
   * Takes a snapshot of a running sandbox. When this throws there is none, and the sandbox goes on.
   *
   * @throws dev.isola.spi.error.LimitExceeded with {@code DISK_FULL} when the store has no room
   */
  public SnapshotReport create(SandboxId id, SnapshotOrder order) {
    SandboxEntry entry = book.need(id);
    return measured.deed(
        Deed.SNAPSHOT,
        entry.provider(),
        () -> {
          try (Uses.Use _ = measured.uses().begin(id)) {
            SnapshotReport report = take(entry, order);
            Snapshot made = report.snapshot();
            measured
                .recorder()
                .kept(entry.provider(), made.bytes(), made.newBytes(), made.storedBytes());
            tell(id, "snapshot", created(report));
            return report;
          } catch (SandboxException e) {
            tell(id, "snapshotFailed", Map.of("code", e.code().name(), "why", e.fault().what()));
            throw e;
          }
        });
  }

  private SnapshotReport take(SandboxEntry entry, SnapshotOrder order) {
    Sandbox sandbox = living.of(entry);
    Snapshotting pictures =
        sandbox
            .as(Snapshotting.class)
            .orElseThrow(() -> Capability.unsupported(entry.provider(), "snapshotting"));
    SandboxSpec spec = SpecText.read(entry.spec(), entry.id()).spec();
    Optional<Coverage> written =
        order.scope() == SnapshotOrder.Scope.EVERYTHING ? pictures.coverage() : Optional.empty();
    String root = written.isPresent() ? "/" : order.path().orElse(spec.workspaceMount());
    try (Taking taking = store.get().take()) {
      Optional<Lineage> line =
          Lineage.read(store.lineages(), entry.id()).filter(one -> continues(one, root, order));
      Map<String, Taking.Held> known = line.map(one -> known(one, taking)).orElse(Map.of());
      Progress progress =
          new Progress(bytes -> tell(entry.id(), "snapshotProgress", Map.of("bytes", bytes)));
      Photographer.Result result =
          new Photographer(sandbox, pictures, progress)
              .take(
                  new Wanted(
                      root,
                      order.includes(),
                      order.excludes(),
                      line.map(Lineage::moment).orElse(0L),
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
                      known.isEmpty() ? Optional.empty() : line.map(Lineage::snapshot),
                      root,
                      order.includes(),
                      order.excludes(),
                      counts.files(),
                      counts.bytes(),
                      counts.newBytes(),
                      counts.storedBytes(),
                      counts.checksum(),
                      Snapshot.Kind.FILESYSTEM,
                      standsOn(entry),
                      written.map(all -> new Snapshot.Written(all.image(), all.folders()))));
      remember(entry.id(), made, result);
      return new SnapshotReport(made, result.held(), result.incremental(), result.readBytes());
    }
  }

  private static boolean continues(Lineage line, String root, SnapshotOrder order) {
    return line.moment() > 0
        && line.root().equals(root)
        && line.includes().equals(order.includes())
        && line.excludes().equals(order.excludes());
  }

  /** Called while a snapshot is being taken, so that nobody collects what the one before needs. */
  private Map<String, Taking.Held> known(Lineage line, Taking taking) {
    try {
      List<Entry> entries = store.get().entries(line.snapshot());
      if (entries.size() != line.marks().size()) {
        return Map.of();
      }
      Map<String, Taking.Held> byMark = new java.util.HashMap<>();
      for (int i = 0; i < entries.size(); i++) {
        if (!line.marks().get(i).isEmpty()) {
          byMark.put(line.marks().get(i), taking.hold(entries.get(i)));
        }
      }
      return byMark;
    } catch (SandboxException removedOrDamaged) {
      return Map.of();
    }
  }

  /** What a restored sandbox stands on: what the snapshot it came from stood on. */
  Optional<String> standsOn(SandboxEntry entry) {
    return entry.baseImage().isEmpty()
        ? new SnapshotImages(store, measured)
            .base(SpecText.read(entry.spec(), entry.id()).spec())
            .image()
        : entry.baseImage().filter(image -> !image.isEmpty());
  }

  private void remember(SandboxId id, Snapshot made, Photographer.Result result) {
    try {
      new Lineage(
              made.id(),
              result.moment(),
              made.root(),
              made.includes(),
              made.excludes(),
              result.files().marks())
          .write(store.lineages(), id);
    } catch (IOException e) {
      log.warning("the next snapshot of " + id + " reads everything: " + e.getMessage());
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

  private void tell(SandboxId id, String type, Map<String, ?> data) {
    events.append(NewEvent.of(id, type, Json.text(data), clock.instant()));
  }

  /** Returns a folder for what is not kept. */
  Path scratch() {
    return store.scratch();
  }

  /** Returns all snapshots, oldest first. */
  public List<Snapshot> list() {
    return store.get().list();
  }

  /**
   * @throws NotFound when there is none
   */
  public Snapshot get(String id) {
    return store.get().get(id);
  }

  /** Returns what became of the files from one snapshot to another. */
  public Difference difference(String from, String to) {
    SnapshotStore open = store.get();
    return Difference.between(open.entries(from), open.entries(to));
  }

  /** Removes a snapshot; its space comes back with {@link #collect}. */
  public void remove(String id) {
    store.get().remove(id);
  }

  /** Gives back what no snapshot needs. */
  public Swept collect() {
    forgetTheGone();
    forgetTheWoken();
    return store.get().collect();
  }

  /** What a crash left of sandboxes that rested and run again, or never did. */
  private void forgetTheWoken() {
    for (Snapshot one : list()) {
      String name = one.tags().get(SnapshotSuspensionStorage.TAG);
      if (name == null || !name.equals(one.sandbox()) || living.isMaking(new SandboxId(name))) {
        continue;
      }
      Optional<String> kept = book.find(new SandboxId(name)).flatMap(SuspensionState::snapshot);
      if (!kept.equals(Optional.of(one.id()))) {
        remove(one.id());
      }
    }
  }

  private void forgetTheGone() {
    if (!Files.isDirectory(store.lineages())) {
      return;
    }
    try (Stream<Path> files = Files.list(store.lineages())) {
      for (Path file : files.toList()) {
        String name = String.valueOf(file.getFileName());
        Optional<SandboxEntry> entry =
            name.matches("[a-z0-9]{1,32}") ? book.find(new SandboxId(name)) : Optional.empty();
        if (entry.filter(one -> one.state() != SandboxState.DESTROYED).isEmpty()) {
          Files.deleteIfExists(file);
        }
      }
    } catch (IOException | SandboxException e) {
      log.warning("what is known of snapshots of former sandboxes stays: " + e.getMessage());
    }
  }
}
