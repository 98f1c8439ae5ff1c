package dev.isola.snapshot;

import dev.isola.snapshot.blob.Blobs;
import dev.isola.snapshot.chunk.ChunkId;
import dev.isola.snapshot.chunk.ChunkStore;
import dev.isola.snapshot.chunk.ChunkStore.Swept;
import dev.isola.snapshot.chunk.DamagedException;
import dev.isola.snapshot.manifest.Entry;
import dev.isola.snapshot.manifest.Manifests;
import dev.isola.snapshot.manifest.Snapshot;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Semaphore;
import java.util.stream.Stream;

/**
 * Snapshots, each of them whole and never changed. A store has one owner at a time. Snapshots are
 * taken and read by any number of threads at once; collecting what nobody needs is done alone.
 */
public final class SnapshotStore implements AutoCloseable {
  private static final int EVERYBODY = 1 << 16;

  private final ChunkStore chunks;
  private final Manifests manifests;
  private final Path staging;
  private final FileChannel lockFile;
  private final Semaphore inside = new Semaphore(EVERYBODY, true);

  private SnapshotStore(
      ChunkStore chunks, Manifests manifests, Path staging, FileChannel lockFile) {
    this.chunks = chunks;
    this.manifests = manifests;
    this.staging = staging;
    this.lockFile = lockFile;
  }

  /**
   * Opens a store.
   *
   * @param work a folder of this machine for the lock and for what is not finished; what an owner
   *     that was killed left there is removed
   * @throws dev.isola.spi.error.Conflict when somebody has it
   */
  public static SnapshotStore open(Blobs blobs, Path work) {
    try {
      Path staging = Files.createDirectories(work.resolve("staging"));
      FileChannel lockFile = lock(work.resolve("lock"));
      try {
        clear(staging);
        return new SnapshotStore(
            ChunkStore.open(blobs, staging), new Manifests(blobs, staging), staging, lockFile);
      } catch (IOException e) {
        lockFile.close();
        throw e;
      }
    } catch (IOException e) {
      throw failed("the snapshots in " + work + " cannot be opened", e);
    }
  }

  private static FileChannel lock(Path file) throws IOException {
    FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    FileLock lock;
    try {
      lock = channel.tryLock();
    } catch (OverlappingFileLockException e) {
      lock = null;
    }
    if (lock == null) {
      channel.close();
      throw Fault.of(
              ErrorCode.CONFLICT,
              "another process has the snapshots of " + file.getParent(),
              "ask that one, or end it first")
          .exception();
    }
    return channel;
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
    return new Taking(chunks.writer(), manifests, inside::release);
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
      Set<ChunkId> seen = new HashSet<>();
      for (Entry entry : entries) {
        for (ChunkId chunk : entry.chunks()) {
          if (seen.add(chunk)) {
            chunks.read(chunk);
          }
        }
      }
      return new Opened(snapshot, entries, chunks, inside::release);
    } catch (IOException e) {
      inside.release();
      throw failed("snapshot " + id + " cannot be read", e);
    } catch (RuntimeException e) {
      inside.release();
      throw e;
    }
  }

  /**
   * Returns the files of a snapshot without looking at their content.
   *
   * @throws dev.isola.spi.error.NotFound when there is none
   */
  public List<Entry> files(String id) {
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

  /** Gives back what no snapshot needs; waits for those that are being taken or read. */
  public Swept collect() {
    inside.acquireUninterruptibly(EVERYBODY);
    try {
      clear(staging);
      Set<ChunkId> needed = new HashSet<>();
      for (String id : manifests.ids()) {
        manifests.entries(id).forEach(entry -> needed.addAll(entry.chunks()));
      }
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
    try {
      lockFile.close();
    } catch (IOException e) {
      throw failed("the snapshots cannot be closed", e);
    }
  }
}
