package dev.isola.snapshot;

import dev.isola.snapshot.blob.Blobs;
import dev.isola.snapshot.blob.FolderBlobs;
import dev.isola.snapshot.blob.OwnedException;
import dev.isola.snapshot.chunk.ChunkId;
import dev.isola.snapshot.chunk.ChunkReader;
import dev.isola.snapshot.chunk.ChunkStore;
import dev.isola.snapshot.chunk.ChunkStore.Swept;
import dev.isola.snapshot.chunk.DamagedException;
import dev.isola.snapshot.manifest.Entry;
import dev.isola.snapshot.manifest.Manifests;
import dev.isola.snapshot.manifest.Snapshot;
import dev.isola.snapshot.step.Step;
import dev.isola.snapshot.step.Steps;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Snapshots, each of them whole and never changed. A store has one owner at a time. Snapshots are
 * taken and read by any number of threads at once; collecting what nobody needs is done alone.
 */
public final class SnapshotStore implements AutoCloseable {
  /** Only the server looks into it. */
  private static final FileAttribute<Set<PosixFilePermission>> OWN =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private static final int EVERYBODY = 1 << 16;

  private final ChunkStore chunks;
  private final Manifests manifests;
  private final Path staging;
  private final Steps steps;
  private final List<Blobs.Claim> claims;
  private final Semaphore inside = new Semaphore(EVERYBODY, true);

  private SnapshotStore(Blobs blobs, Path staging, Steps steps, List<Blobs.Claim> claims)
      throws IOException {
    this.chunks = ChunkStore.open(blobs, staging, steps);
    this.manifests = new Manifests(blobs, staging, steps);
    this.staging = staging;
    this.steps = steps;
    this.claims = claims;
  }

  /**
   * Opens a store.
   *
   * @param work a folder of this machine for what is not finished; what an owner that was killed
   *     left there is removed
   * @throws dev.isola.spi.error.Conflict when somebody has the store, or that folder
   */
  public static SnapshotStore open(Blobs blobs, Path work) {
    return open(blobs, work, Steps.UNWATCHED);
  }

  /** Opens a store and tells {@code steps} where it is. */
  public static SnapshotStore open(Blobs blobs, Path work, Steps steps) {
    List<Blobs.Claim> claims = new ArrayList<>();
    try {
      Path staging = Files.createDirectories(work.resolve("staging"), OWN);
      claims.add(FolderBlobs.claimFolder(work));
      claims.add(blobs.claim(work));
      steps.reached(Step.OPEN_CLAIMED);
      clear(staging);
      return new SnapshotStore(blobs, staging, steps, claims);
    } catch (OwnedException e) {
      release(claims, e);
      throw Fault.of(
              ErrorCode.CONFLICT, String.valueOf(e.getMessage()), "ask that one, or end it first")
          .exception(e);
    } catch (IOException e) {
      release(claims, e);
      throw failed("the snapshots in " + blobs + " cannot be opened", e);
    } catch (RuntimeException e) {
      release(claims, e);
      throw e;
    }
  }

  private static void release(List<Blobs.Claim> claims, Exception why) {
    for (Blobs.Claim claim : claims.reversed()) {
      try {
        claim.close();
      } catch (IOException e) {
        why.addSuppressed(e);
      }
    }
  }

  private static void clear(Path staging) throws IOException {
    List<Path> left;
    try (Stream<Path> files = Files.list(staging)) {
      left = files.toList();
    }
    for (Path file : left) {
      Files.deleteIfExists(file);
    }
  }

  static SandboxException failed(String what, IOException e) {
    if (e instanceof DamagedException damaged) {
      return Fault.of(
              ErrorCode.SNAPSHOT_DAMAGED,
              String.valueOf(damaged.getMessage()),
              "restore the store from a copy, or remove the snapshots that need it")
          .exception(e);
    }
    boolean full =
        String.valueOf(e.getMessage()).contains("No space left")
            || String.valueOf(e.getMessage()).contains("quota exceeded");
    return Fault.of(
            full ? ErrorCode.DISK_FULL : ErrorCode.PROVIDER_UNAVAILABLE,
            what + ": " + e.getMessage(),
            full ? "make room, or remove snapshots and collect" : "check the folder's rights")
        .exception(e);
  }

  /** Begins a snapshot; it exists once it is finished, and otherwise never. */
  public Taking take() {
    inside.acquireUninterruptibly();
    try {
      steps.reached(Step.TAKE_BEGUN);
      return new Taking(chunks, manifests, steps, inside::release);
    } catch (RuntimeException | Error e) {
      inside.release();
      throw e;
    }
  }

  /**
   * Returns all snapshots, oldest first; damaged ones are left out and named by {@link #verify}.
   */
  public List<Snapshot> list() {
    try {
      List<Snapshot> all = new ArrayList<>();
      for (String id : manifests.ids()) {
        try {
          manifests.find(id).ifPresent(all::add);
        } catch (DamagedException named) {
          // see above
        }
      }
      all.sort(Comparator.comparing(Snapshot::createdAt).thenComparing(Snapshot::id));
      return all;
    } catch (IOException e) {
      throw failed("the snapshots cannot be listed", e);
    }
  }

  /**
   * @throws dev.isola.spi.error.NotFound when there is none
   */
  public Snapshot get(String id) {
    try {
      return found(id);
    } catch (IOException e) {
      throw failed("snapshot " + id + " cannot be read", e);
    }
  }

  private Snapshot found(String id) throws IOException {
    Optional<Snapshot> found = Manifests.isId(id) ? manifests.find(id) : Optional.empty();
    return found.orElseThrow(
        () ->
            Fault.of(
                    ErrorCode.SNAPSHOT_NOT_FOUND,
                    "there is no snapshot " + (Manifests.isId(id) ? id : "of that name"),
                    "list the snapshots")
                .exception());
  }

  /**
   * Opens a snapshot for reading. Every chunk is read and checked before this returns, so that
   * nothing is restored in part.
   *
   * @throws dev.isola.spi.error.Gone with {@code SNAPSHOT_DAMAGED}, naming what is damaged
   */
  public Opened open(String id) {
    inside.acquireUninterruptibly();
    try {
      Snapshot snapshot = found(id);
      List<Entry> entries = manifests.entries(id);
      steps.reached(Step.RESTORE_LISTED);
      ChunkReader reader = chunks.check(chunksOf(entries));
      steps.reached(Step.RESTORE_CHECKED);
      return new Opened(snapshot, entries, reader, steps, inside::release);
    } catch (IOException e) {
      inside.release();
      throw failed("snapshot " + id + " cannot be read", e);
    } catch (RuntimeException e) {
      inside.release();
      throw e;
    }
  }

  private static Set<ChunkId> chunksOf(List<Entry> entries) {
    Set<ChunkId> all = new HashSet<>();
    entries.forEach(entry -> all.addAll(entry.chunks()));
    all.removeIf(ChunkId::isHole);
    return all;
  }

  /**
   * Returns the files of a snapshot, in the order in which they were taken; of their content
   * nothing is read. A later snapshot may add those that did not change as they are.
   */
  public List<Entry> entries(String id) {
    try {
      found(id);
      return manifests.entries(id);
    } catch (IOException e) {
      throw failed("snapshot " + id + " cannot be read", e);
    }
  }

  /** Removes a snapshot; its space comes back with the next {@link #collect}. */
  public void remove(String id) {
    try {
      found(id);
    } catch (IOException damaged) {
      // It goes all the same.
    }
    try {
      manifests.remove(id);
    } catch (IOException e) {
      throw failed("snapshot " + id + " cannot be removed", e);
    }
  }

  /**
   * Gives back what no snapshot needs; waits for those that are being taken or read, and whoever
   * comes later waits for it.
   */
  public Swept collect() {
    inside.acquireUninterruptibly(EVERYBODY);
    return collectAlone();
  }

  /**
   * Like {@link #collect()}, but waits no longer than that, and so keeps nobody waiting longer:
   * what comes from a sandbox may take its time. Empty when it could not begin.
   */
  public Optional<Swept> collect(Duration patience) throws InterruptedException {
    return inside.tryAcquire(EVERYBODY, patience.toMillis(), TimeUnit.MILLISECONDS)
        ? Optional.of(collectAlone())
        : Optional.empty();
  }

  private Swept collectAlone() {
    try {
      steps.reached(Step.COLLECT_BEGUN);
      clear(staging);
      Set<ChunkId> needed = new HashSet<>();
      for (String id : manifests.ids()) {
        needed.addAll(chunksOf(manifests.entries(id)));
      }
      steps.reached(Step.COLLECT_COUNTED);
      return chunks.sweep(needed);
    } catch (IOException e) {
      throw failed("what nobody needs cannot be collected", e);
    } finally {
      inside.release(EVERYBODY);
    }
  }

  /** Reads everything, and returns what is damaged: a name, and what is wrong with it. */
  public Map<String, String> verify() {
    inside.acquireUninterruptibly();
    try {
      Map<String, String> damaged = new TreeMap<>(chunks.verify());
      for (String id : manifests.ids()) {
        try {
          manifests.entries(id);
        } catch (DamagedException e) {
          damaged.put("snapshots/" + id, String.valueOf(e.getMessage()));
        }
      }
      return damaged;
    } catch (IOException e) {
      throw failed("the snapshots cannot be verified", e);
    } finally {
      inside.release();
    }
  }

  @Override
  public void close() {
    chunks.close();
    IOException failure = new IOException("the lock stays");
    release(claims, failure);
    if (failure.getSuppressed().length > 0) {
      throw failed("the snapshots cannot be closed", failure);
    }
  }
}
