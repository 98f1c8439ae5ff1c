package dev.isola.snapshot;

import dev.isola.snapshot.blob.AlreadyClaimedException;
import dev.isola.snapshot.blob.BlobStore;
import dev.isola.snapshot.blob.FolderBlobStore;
import dev.isola.snapshot.chunk.ChunkId;
import dev.isola.snapshot.chunk.ChunkReader;
import dev.isola.snapshot.chunk.ChunkStore;
import dev.isola.snapshot.chunk.ChunkStore.GarbageStats;
import dev.isola.snapshot.chunk.DamagedException;
import dev.isola.snapshot.failpoint.FailpointListener;
import dev.isola.snapshot.failpoint.SnapshotFailpoint;
import dev.isola.snapshot.manifest.Manifests;
import dev.isola.snapshot.manifest.Snapshot;
import dev.isola.snapshot.manifest.SnapshotEntry;
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
 * Stores immutable snapshots. A store has one owner at a time. Any number of threads may write and
 * read snapshots concurrently; garbage collection runs exclusively.
 */
public final class SnapshotStore implements AutoCloseable {
  /** Only the server may read the folder. */
  private static final FileAttribute<Set<PosixFilePermission>> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private static final int MAX_PERMITS = 1 << 16;

  private final ChunkStore chunks;
  private final Manifests manifests;
  private final Path staging;
  private final FailpointListener failpoints;
  private final List<BlobStore.Claim> claims;
  private final Semaphore inside = new Semaphore(MAX_PERMITS, true);

  private SnapshotStore(
      BlobStore blobs, Path staging, FailpointListener failpoints, List<BlobStore.Claim> claims)
      throws IOException {
    this.chunks = ChunkStore.open(blobs, staging, failpoints);
    this.manifests = new Manifests(blobs, staging, failpoints);
    this.staging = staging;
    this.failpoints = failpoints;
    this.claims = claims;
  }

  /**
   * Opens a store.
   *
   * @param work a local folder for unfinished files; the leftovers of a killed owner are removed
   * @throws dev.isola.spi.error.Conflict if the store or the folder has another owner
   */
  public static SnapshotStore open(BlobStore blobs, Path work) {
    return open(blobs, work, FailpointListener.NONE);
  }

  /** Opens a store that reports its failpoints to {@code failpoints}. */
  public static SnapshotStore open(BlobStore blobs, Path work, FailpointListener failpoints) {
    List<BlobStore.Claim> claims = new ArrayList<>();
    try {
      Path staging = Files.createDirectories(work.resolve("staging"), OWNER_ONLY);
      claims.add(FolderBlobStore.claimFolder(work));
      claims.add(blobs.claim(work));
      failpoints.reached(SnapshotFailpoint.OPEN_CLAIMED);
      clear(staging);
      return new SnapshotStore(blobs, staging, failpoints, claims);
    } catch (AlreadyClaimedException e) {
      release(claims, e);
      throw Fault.of(
              ErrorCode.CONFLICT,
              String.valueOf(e.getMessage()),
              "use the server that owns the store, or stop it first")
          .exception(e);
    } catch (IOException e) {
      release(claims, e);
      throw storeFailure("the snapshot store in " + blobs + " cannot be opened", e);
    } catch (RuntimeException e) {
      release(claims, e);
      throw e;
    }
  }

  private static void release(List<BlobStore.Claim> claims, Exception why) {
    for (BlobStore.Claim claim : claims.reversed()) {
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

  static SandboxException storeFailure(String what, IOException e) {
    if (e instanceof DamagedException damaged) {
      return Fault.of(
              ErrorCode.SNAPSHOT_DAMAGED,
              String.valueOf(damaged.getMessage()),
              "restore the store from a backup, or remove the snapshots that need the damaged"
                  + " object")
          .exception(e);
    }
    boolean full =
        String.valueOf(e.getMessage()).contains("No space left")
            || String.valueOf(e.getMessage()).contains("quota exceeded");
    return Fault.of(
            full ? ErrorCode.DISK_FULL : ErrorCode.PROVIDER_UNAVAILABLE,
            what + ": " + e.getMessage(),
            full
                ? "free disk space, or remove snapshots and collect garbage"
                : "check the permissions of the folder")
        .exception(e);
  }

  /** Starts a snapshot. It exists only after the writer finishes it. */
  public SnapshotWriter newWriter() {
    inside.acquireUninterruptibly();
    try {
      failpoints.reached(SnapshotFailpoint.TAKE_BEGUN);
      return new SnapshotWriter(chunks, manifests, failpoints, inside::release);
    } catch (RuntimeException | Error e) {
      inside.release();
      throw e;
    }
  }

  /**
   * Returns all snapshots, oldest first. Damaged snapshots are omitted; {@link #verify} reports
   * them.
   */
  public List<Snapshot> list() {
    try {
      List<Snapshot> all = new ArrayList<>();
      for (String id : manifests.ids()) {
        try {
          manifests.find(id).ifPresent(all::add);
        } catch (DamagedException named) {
          // {@link #verify} reports it.
        }
      }
      all.sort(Comparator.comparing(Snapshot::createdAt).thenComparing(Snapshot::id));
      return all;
    } catch (IOException e) {
      throw storeFailure("the snapshots cannot be listed", e);
    }
  }

  /**
   * @throws dev.isola.spi.error.NotFound if the snapshot does not exist
   */
  public Snapshot get(String id) {
    try {
      return found(id);
    } catch (IOException e) {
      throw storeFailure("snapshot " + id + " cannot be read", e);
    }
  }

  private Snapshot found(String id) throws IOException {
    Optional<Snapshot> found = Manifests.isId(id) ? manifests.find(id) : Optional.empty();
    return found.orElseThrow(
        () ->
            Fault.of(
                    ErrorCode.SNAPSHOT_NOT_FOUND,
                    "no such snapshot: " + (Manifests.isId(id) ? id : "invalid id"),
                    "list the snapshots")
                .exception());
  }

  /**
   * Opens a snapshot for reading. Reads and verifies every chunk before it returns, so that a
   * damaged snapshot is never restored in part.
   *
   * @throws dev.isola.spi.error.Gone with {@code SNAPSHOT_DAMAGED}, naming the damaged object
   */
  public SnapshotReader open(String id) {
    inside.acquireUninterruptibly();
    try {
      Snapshot snapshot = found(id);
      List<SnapshotEntry> entries = manifests.entries(id);
      failpoints.reached(SnapshotFailpoint.RESTORE_LISTED);
      ChunkReader reader = chunks.check(chunksOf(entries));
      failpoints.reached(SnapshotFailpoint.RESTORE_CHECKED);
      return new SnapshotReader(snapshot, entries, reader, failpoints, inside::release);
    } catch (IOException e) {
      inside.release();
      throw storeFailure("snapshot " + id + " cannot be read", e);
    } catch (RuntimeException e) {
      inside.release();
      throw e;
    }
  }

  private static Set<ChunkId> chunksOf(List<SnapshotEntry> entries) {
    Set<ChunkId> all = new HashSet<>();
    entries.forEach(entry -> all.addAll(entry.chunks()));
    all.removeIf(ChunkId::isHole);
    return all;
  }

  /**
   * Returns the entries of a snapshot in the order in which they were captured, without reading any
   * content. A later snapshot can reuse the entries of unchanged files.
   */
  public List<SnapshotEntry> entries(String id) {
    try {
      found(id);
      return manifests.entries(id);
    } catch (IOException e) {
      throw storeFailure("snapshot " + id + " cannot be read", e);
    }
  }

  /** Removes a snapshot. The next {@link #collectGarbage()} reclaims its space. */
  public void remove(String id) {
    try {
      found(id);
    } catch (IOException damaged) {
      // A damaged snapshot can be removed too.
    }
    try {
      manifests.remove(id);
    } catch (IOException e) {
      throw storeFailure("snapshot " + id + " cannot be removed", e);
    }
  }

  /**
   * Reclaims the space that no snapshot uses. Waits for open writers and readers; new ones wait
   * until it is done.
   */
  public GarbageStats collectGarbage() {
    inside.acquireUninterruptibly(MAX_PERMITS);
    return collectGarbageExclusively();
  }

  /**
   * Like {@link #collectGarbage()}, but gives up after {@code timeout}, because a writer that reads
   * from a slow sandbox would otherwise block new writers and readers for long. Returns empty if
   * collection could not start.
   */
  public Optional<GarbageStats> collectGarbage(Duration timeout) throws InterruptedException {
    return inside.tryAcquire(MAX_PERMITS, timeout.toMillis(), TimeUnit.MILLISECONDS)
        ? Optional.of(collectGarbageExclusively())
        : Optional.empty();
  }

  private GarbageStats collectGarbageExclusively() {
    try {
      failpoints.reached(SnapshotFailpoint.COLLECT_BEGUN);
      clear(staging);
      Set<ChunkId> needed = new HashSet<>();
      for (String id : manifests.ids()) {
        needed.addAll(chunksOf(manifests.entries(id)));
      }
      failpoints.reached(SnapshotFailpoint.COLLECT_COUNTED);
      return chunks.collectGarbage(needed);
    } catch (IOException e) {
      throw storeFailure("garbage collection failed", e);
    } finally {
      inside.release(MAX_PERMITS);
    }
  }

  /** Reads the whole store and returns the name of each damaged object with the defect. */
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
      throw storeFailure("the snapshots cannot be verified", e);
    } finally {
      inside.release();
    }
  }

  @Override
  public void close() {
    chunks.close();
    IOException failure = new IOException("the lock was not released");
    release(claims, failure);
    if (failure.getSuppressed().length > 0) {
      throw storeFailure("the snapshot store cannot be closed", failure);
    }
  }
}
