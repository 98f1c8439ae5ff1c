package dev.isola.snapshot;

import dev.isola.snapshot.blob.AlreadyClaimedException;
import dev.isola.snapshot.blob.BlobStore;
import dev.isola.snapshot.blob.FolderBlobStore;
import dev.isola.snapshot.chunk.ChunkId;
import dev.isola.snapshot.chunk.ChunkStore;
import dev.isola.snapshot.chunk.ChunkStore.GarbageStats;
import dev.isola.snapshot.chunk.DamagedException;
import dev.isola.snapshot.failpoint.FailpointListener;
import dev.isola.snapshot.failpoint.SnapshotFailpoint;
import dev.isola.snapshot.manifest.ByteBudget;
import dev.isola.snapshot.manifest.EntryReader;
import dev.isola.snapshot.manifest.EntrySpool;
import dev.isola.snapshot.manifest.Manifests;
import dev.isola.snapshot.manifest.Snapshot;
import dev.isola.snapshot.manifest.SnapshotEntry;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.nio.file.DirectoryStream;
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

/**
 * Stores immutable snapshots. A store has one owner at a time. Any number of threads may write and
 * read snapshots concurrently; garbage collection runs exclusively.
 */
public final class SnapshotStore implements AutoCloseable {
  /** Only the server may read the folder. */
  private static final FileAttribute<Set<PosixFilePermission>> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  /**
   * Files of snapshots that were not finished. Others are spools, which are unlinked as soon as
   * they exist; also a request that only lists entries has one.
   */
  private static final String UNFINISHED = "*.new";

  /** The share of the heap that the index of a list of entries may take; a capture has two. */
  private static final int INDEX_SHARE = 64;

  private final ChunkStore chunks;
  private final Manifests manifests;
  private final Path staging;
  private final FailpointListener failpoints;
  private final List<BlobStore.Claim> claims;
  private final StoreLimits limits;
  private final ByteBudget entryBytes;

  /** One for each open writer and reader, all for garbage collection. */
  private final Semaphore sessions;

  /** Fewer than sessions, so that slow sandboxes that are captured leave some for restores. */
  private final Semaphore writers;

  private SnapshotStore(
      BlobStore blobs,
      Path staging,
      FailpointListener failpoints,
      StoreLimits limits,
      List<BlobStore.Claim> claims)
      throws IOException {
    this.limits = limits;
    this.sessions = new Semaphore(limits.sessions(), true);
    this.writers = new Semaphore(Math.max(1, limits.sessions() * 3 / 4), true);
    this.entryBytes =
        new ByteBudget(
            "the names and attributes of all snapshots in progress",
            limits.totalEntryBytes(),
            "try again when other snapshots are finished",
            Optional.empty());
    this.chunks = ChunkStore.open(blobs, staging, failpoints, limits.memory());
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
    return open(blobs, work, failpoints, StoreLimits.DEFAULT);
  }

  /** Opens a store with other limits. */
  public static SnapshotStore open(
      BlobStore blobs, Path work, FailpointListener failpoints, StoreLimits limits) {
    List<BlobStore.Claim> claims = new ArrayList<>();
    try {
      Path staging = Files.createDirectories(work.resolve("staging"), OWNER_ONLY);
      claims.add(FolderBlobStore.claimFolder(work));
      claims.add(blobs.claim(work));
      failpoints.reached(SnapshotFailpoint.OPEN_CLAIMED);
      clear(staging, "*");
      return new SnapshotStore(blobs, staging, failpoints, limits, claims);
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

  private static void clear(Path staging, String pattern) throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(staging, pattern)) {
      for (Path file : files) {
        Files.deleteIfExists(file);
      }
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

  /** Waits until a snapshot may be written or read. The caller releases the session. */
  private void beginSession() {
    acquire(
        sessions, 1, limits.sessionWait(), "other snapshots are being written, read or collected");
  }

  private static void acquire(Semaphore from, int permits, Duration wait, String why) {
    try {
      if (!from.tryAcquire(permits, wait.toNanos(), TimeUnit.NANOSECONDS)) {
        throw Fault.of(
                ErrorCode.PROVIDER_UNAVAILABLE,
                "the snapshot store is busy: " + why + " for " + wait.toSeconds() + " s",
                "try again later")
            .exception();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Fault.of(
              ErrorCode.CANCELLED, "the request was ended while " + why, "repeat the request")
          .exception(e);
    }
  }

  /** Starts a snapshot. It exists only after the writer finishes it. */
  public SnapshotWriter newWriter() {
    acquire(writers, 1, limits.sessionWait(), "other snapshots are being written");
    try {
      beginSession();
    } catch (RuntimeException e) {
      writers.release();
      throw e;
    }
    try {
      failpoints.reached(SnapshotFailpoint.TAKE_BEGUN);
      return new SnapshotWriter(
          chunks, manifests, this::newSpool, staging, failpoints, this::endWriter);
    } catch (RuntimeException | Error e) {
      endWriter();
      throw e;
    }
  }

  /** Returns whether threads wait until they may write a snapshot. */
  public boolean isAwaited() {
    return writers.hasQueuedThreads();
  }

  private void endWriter() {
    sessions.release();
    writers.release();
  }

  private EntrySpool newSpool() {
    ByteBudget budget =
        new ByteBudget(
            "the names and attributes of the files of the snapshot",
            limits.entryBytes(),
            "exclude folders with many files, or remove files",
            Optional.of(entryBytes));
    try {
      return new EntrySpool(staging, budget, limits.memory() / INDEX_SHARE);
    } catch (IOException e) {
      throw storeFailure("a temporary file cannot be created in " + staging, e);
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
    beginSession();
    try {
      Snapshot snapshot = found(id);
      SnapshotEntries entries = new SnapshotEntries(id, manifests.entries(id));
      try {
        failpoints.reached(SnapshotFailpoint.RESTORE_LISTED);
        check(entries);
        failpoints.reached(SnapshotFailpoint.RESTORE_CHECKED);
        return new SnapshotReader(
            snapshot, entries, chunks.reader(), failpoints, sessions::release);
      } catch (IOException | RuntimeException | Error e) {
        entries.close();
        throw e;
      }
    } catch (IOException e) {
      sessions.release();
      throw storeFailure("snapshot " + id + " cannot be read", e);
    } catch (RuntimeException | Error e) {
      sessions.release();
      throw e;
    }
  }

  private void check(SnapshotEntries entries) throws IOException {
    Set<ChunkId> ids = new HashSet<>();
    for (SnapshotEntry entry : entries) {
      for (ChunkId chunk : entry.chunks()) {
        if (!chunk.isHole() && ids.add(chunk) && ids.size() == ChunkStore.MAX_LOOKUP) {
          chunks.check(ids);
          ids.clear();
        }
      }
    }
    chunks.check(ids);
  }

  /**
   * Returns the entries of a snapshot, without reading any content. A later snapshot can reuse the
   * entries of unchanged files. The caller closes them.
   */
  public SnapshotEntries entries(String id) {
    try {
      found(id);
      return new SnapshotEntries(id, manifests.entries(id));
    } catch (IOException e) {
      throw storeFailure("snapshot " + id + " cannot be read", e);
    }
  }

  /**
   * Compares the files of two snapshots.
   *
   * @throws dev.isola.spi.error.LimitExceeded if they have too many entries or differences
   */
  public SnapshotDiff difference(String from, String to) {
    beginSession();
    try (SnapshotEntries before = entries(from);
        SnapshotEntries after = entries(to)) {
      return SnapshotDiff.between(before, after, this::newSpool);
    } catch (IOException e) {
      throw storeFailure("the snapshots cannot be compared", e);
    } finally {
      sessions.release();
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
   * until it is done. Gives up after a while, because a writer that reads from a slow sandbox would
   * otherwise block all others.
   *
   * @throws dev.isola.spi.error.ProviderUnavailable if collection could not start
   */
  public GarbageStats collectGarbage() {
    acquire(
        sessions,
        limits.sessions(),
        limits.collectionWait(),
        "garbage is not collected, because snapshots are being written or read");
    try {
      failpoints.reached(SnapshotFailpoint.COLLECT_BEGUN);
      clear(staging, UNFINISHED);
      Set<ChunkId> needed = new HashSet<>();
      for (String id : manifests.ids()) {
        try (SnapshotEntries entries = new SnapshotEntries(id, manifests.entries(id))) {
          for (SnapshotEntry entry : entries) {
            entry.chunks().stream().filter(chunks::contains).forEach(needed::add);
          }
        }
      }
      failpoints.reached(SnapshotFailpoint.COLLECT_COUNTED);
      return chunks.collectGarbage(needed);
    } catch (IOException e) {
      throw storeFailure("garbage collection failed", e);
    } finally {
      sessions.release(limits.sessions());
    }
  }

  /** Reads the whole store and returns the name of each damaged object with the defect. */
  public Map<String, String> verify() {
    beginSession();
    try {
      Map<String, String> damaged = new TreeMap<>(chunks.verify());
      for (String id : manifests.ids()) {
        try (Manifests.StoredList list = manifests.entries(id);
            EntryReader reader = list.read()) {
          while (reader.next().isPresent()) {
            // Reading it verifies it.
          }
        } catch (IOException e) {
          damaged.put("snapshots/" + id, String.valueOf(Manifests.damaged(id, e).getMessage()));
        }
      }
      return damaged;
    } catch (IOException e) {
      throw storeFailure("the snapshots cannot be verified", e);
    } finally {
      sessions.release();
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
