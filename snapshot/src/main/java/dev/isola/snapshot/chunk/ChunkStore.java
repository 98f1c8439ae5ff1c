package dev.isola.snapshot.chunk;

import dev.isola.snapshot.blob.BlobStore;
import dev.isola.snapshot.failpoint.FailpointListener;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * All chunks of a snapshot store. Every chunk is verified against its id when read. Thread-safe,
 * except that {@link #collectGarbage} must run exclusively.
 */
public final class ChunkStore implements AutoCloseable {
  private static final int MAX_THREADS = 8;

  /** The cost of reading a pack's index, in bytes of the read budget. */
  private static final int INDEX_COST = 64 << 10;

  /** What all writers may have in progress, and all readers. */
  private static final int MAX_BUDGET = 32 << 20;

  private static final int MIN_BUDGET = 4 << 20;

  /** The share of the heap that each of them may take. */
  private static final int BUDGET_SHARE = 16;

  /** What a chunk takes in the index, which is in memory. */
  private static final int INDEX_BYTES_PER_CHUNK = 128;

  /** The share of the heap that the index may take. */
  private static final int INDEX_SHARE = 4;

  /** The most chunks that are looked up and verified together. */
  public static final int MAX_LOOKUP = 8192;

  private final BlobStore blobs;
  private final Path staging;
  private final FailpointListener failpoints;
  private final ThreadPoolExecutor threads = threads();
  private final Map<ChunkId, ChunkLocation> locations = new ConcurrentHashMap<>();
  private final Map<String, String> damaged = new ConcurrentHashMap<>();
  private final BoundedExecutor.SharedBudget writing;
  private final BoundedExecutor.SharedBudget reading;
  private final long maxChunks;

  private ChunkStore(BlobStore blobs, Path staging, FailpointListener failpoints, long memory) {
    this.blobs = blobs;
    this.staging = staging;
    this.failpoints = failpoints;
    int budget = Math.clamp(memory / BUDGET_SHARE, MIN_BUDGET, MAX_BUDGET);
    this.writing = new BoundedExecutor.SharedBudget(budget);
    this.reading = new BoundedExecutor.SharedBudget(budget);
    this.maxChunks = memory / INDEX_SHARE / INDEX_BYTES_PER_CHUNK;
  }

  private static ThreadPoolExecutor threads() {
    int count = Math.clamp(Runtime.getRuntime().availableProcessors(), 1, MAX_THREADS);
    ThreadPoolExecutor threads =
        new ThreadPoolExecutor(
            count,
            count,
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            Thread.ofPlatform().daemon().name("snapshot-", 0).factory());
    threads.allowCoreThreadTimeOut(true);
    return threads;
  }

  /**
   * Opens the store and loads the index of every pack. A damaged pack does not prevent access to
   * the others.
   *
   * @param staging a local folder for unfinished files
   * @param memory the heap of the process, of which the store takes a share
   */
  public static ChunkStore open(
      BlobStore blobs, Path staging, FailpointListener failpoints, long memory) throws IOException {
    ChunkStore store = new ChunkStore(blobs, staging, failpoints, memory);
    try {
      BoundedExecutor executor = new BoundedExecutor(store.threads, store.reading);
      for (String name : blobs.list(Pack.FOLDER)) {
        executor.submit(INDEX_COST, () -> store.load(name));
      }
      executor.await();
      return store;
    } catch (IOException | RuntimeException e) {
      store.close();
      throw e;
    }
  }

  private void load(String name) throws IOException {
    try {
      locations.putAll(Pack.rows(blobs, name));
    } catch (DamagedException e) {
      damaged.put(name, String.valueOf(e.getMessage()));
    }
  }

  /** Returns the unusable packs, each with its defect. */
  public Map<String, String> damaged() {
    return new TreeMap<>(damaged);
  }

  public boolean contains(ChunkId id) {
    return locations.containsKey(id);
  }

  /** Returns a new writer. */
  public ChunkWriter writer() {
    return new ChunkWriter(this, blobs, staging, failpoints, threads, writing);
  }

  /**
   * Refuses another chunk when a writer has added half of what the index had room for, because the
   * next snapshots need room, too.
   *
   * @param pending the chunks of the writer that are not in the index yet
   * @param added all chunks of the writer that the store did not have
   * @throws dev.isola.spi.error.LimitExceeded if there is no room
   */
  void requireRoomInIndex(int pending, long added) {
    if (added > maxChunks - locations.size() - pending) {
      throw Fault.of(
              ErrorCode.RESOURCE_LIMIT,
              "the snapshot needs more than half of the room in the index of the snapshot store,"
                  + " which has "
                  + locations.size()
                  + " chunks and at most "
                  + maxChunks,
              "exclude folders with many files, remove snapshots and collect garbage, or give the"
                  + " server more memory")
          .exception();
    }
  }

  void register(Map<ChunkId, ChunkLocation> more) {
    locations.putAll(more);
  }

  private ChunkLocation locate(ChunkId id) throws DamagedException {
    ChunkLocation location = locations.get(id);
    if (location == null) {
      String hint = damaged.isEmpty() ? "" : " that is readable; " + damaged().values();
      throw new DamagedException("chunk " + id, "no pack contains it" + hint);
    }
    return location;
  }

  byte[] read(ChunkRun chunkRun) throws IOException {
    try {
      return blobs.read(chunkRun.pack(), chunkRun.offset(), chunkRun.length());
    } catch (NoSuchFileException e) {
      throw new DamagedException(chunkRun.pack(), "the file is missing");
    } catch (EOFException e) {
      throw new DamagedException(chunkRun.pack(), "the file is truncated");
    }
  }

  /** Returns a reader. */
  public ChunkReader reader() {
    return new ChunkReader(this);
  }

  /**
   * Groups chunks into runs, which are read together.
   *
   * @throws DamagedException if a chunk is missing
   */
  List<ChunkRun> runs(Collection<ChunkId> ids) throws DamagedException {
    Map<ChunkId, ChunkLocation> wanted = new HashMap<>();
    for (ChunkId id : ids) {
      wanted.put(id, locate(id));
    }
    return ChunkRun.of(wanted);
  }

  /** Returns the uncompressed size of a chunk. */
  int size(ChunkId id) throws DamagedException {
    return locate(id).size();
  }

  /**
   * Reads and verifies chunks.
   *
   * @param ids at most {@link #MAX_LOOKUP}
   * @throws DamagedException if a chunk is missing or corrupt
   */
  public void check(Collection<ChunkId> ids) throws IOException {
    if (ids.size() > MAX_LOOKUP) {
      throw new IllegalArgumentException("too many chunks to check together: " + ids.size());
    }
    BoundedExecutor executor = new BoundedExecutor(threads, reading);
    try {
      for (ChunkRun chunkRun : runs(ids)) {
        executor.submit(ChunkRun.MAX_BYTES, () -> check(chunkRun));
      }
      executor.await();
    } finally {
      executor.cancel();
    }
  }

  private byte[] check(ChunkRun chunkRun) throws IOException {
    byte[] bytes = read(chunkRun);
    for (ChunkId id : chunkRun.chunks().keySet()) {
      chunkRun.content(id, bytes);
    }
    return bytes;
  }

  /** What a garbage collection reclaimed. */
  public record GarbageStats(int packs, long bytes) {}

  /**
   * Removes the chunks that are not in {@code needed}. A pack of which less than half is needed is
   * rewritten without the rest and then removed. An interruption at any point leaves every needed
   * chunk in at least one pack.
   */
  public GarbageStats collectGarbage(Set<ChunkId> needed) throws IOException {
    return new GarbageCollection(this, blobs, failpoints, needed).run();
  }

  /** Tells whether a pack is damaged and its index therefore unknown. */
  boolean isDamaged(String pack) {
    return damaged.containsKey(pack);
  }

  /** Tells whether the chunk is read from the given pack. */
  boolean readsFrom(String pack, ChunkId id) {
    ChunkLocation location = locations.get(id);
    return location != null && location.pack().equals(pack);
  }

  void unregister(String pack, Collection<ChunkId> ids) {
    for (ChunkId id : ids) {
      locations.computeIfPresent(id, (_, at) -> at.pack().equals(pack) ? null : at);
    }
  }

  /** Copies chunks into a new pack and returns its size. */
  long rewrite(Map<ChunkId, ChunkLocation> kept) throws IOException {
    try (PackWriter pack = new PackWriter(staging, failpoints)) {
      for (ChunkRun chunkRun : ChunkRun.of(kept)) {
        byte[] bytes = check(chunkRun); // Verifies the chunks, so that damaged ones are not copied.
        for (Map.Entry<ChunkId, ChunkLocation> one : chunkRun.chunks().entrySet()) {
          ChunkLocation location = one.getValue();
          pack.add(
              one.getKey(), bytes, chunkRun.begin(location), location.length(), location.size());
        }
      }
      register(pack.finish(blobs));
      return pack.size();
    }
  }

  /** Reads everything and returns the defects by name. */
  public Map<String, String> verify() throws IOException {
    Map<String, String> found = new ConcurrentHashMap<>();
    BoundedExecutor executor = new BoundedExecutor(threads, reading);
    for (String name : blobs.list(Pack.FOLDER)) {
      executor.submit(
          ChunkRun.MAX_BYTES,
          () -> {
            if (!Pack.isIntact(blobs, name)) {
              found.put(name, name + " is damaged: the content does not match the name");
            }
          });
    }
    executor.await();
    return new TreeMap<>(found);
  }

  /** Stops the threads after they finish the tasks in progress. */
  @Override
  public void close() {
    threads.shutdown();
  }
}
