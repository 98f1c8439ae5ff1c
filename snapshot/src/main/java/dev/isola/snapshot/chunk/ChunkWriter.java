package dev.isola.snapshot.chunk;

import dev.isola.snapshot.blob.BlobStore;
import dev.isola.snapshot.failpoint.FailpointListener;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Adds content to a store. Chunks that the store already has are not written again. The calling
 * thread reads and splits the content while the store's threads hash, compress and write it.
 * Nothing is durable before {@link #commit}. Not thread-safe.
 */
public final class ChunkWriter implements AutoCloseable {
  /** Large enough to amortize the overhead per pack, small enough to rewrite. */
  private static final long PACK_SIZE = 16L << 20;

  /** The most chunks of a pack, whose rows are in memory until it is finished. */
  private static final int PACK_CHUNKS = 1 << 15;

  /**
   * The most chunks and holes of a file, which are in memory: 128 GiB of chunks of average size.
   */
  public static final int MAX_CHUNKS = 1 << 18;

  private final ChunkStore store;
  private final BlobStore blobs;
  private final Path staging;
  private final FailpointListener failpoints;
  private final BoundedExecutor executor;
  private final Chunker chunker = new Chunker();
  private final Set<ChunkId> pending = ConcurrentHashMap.newKeySet();
  private final LongAdder newChunks = new LongAdder();
  private final LongAdder newBytes = new LongAdder();
  private final LongAdder storedBytes = new LongAdder();
  private final ReentrantLock packing = new ReentrantLock();
  private @Nullable PackWriter pack;

  ChunkWriter(
      ChunkStore store,
      BlobStore blobs,
      Path staging,
      FailpointListener failpoints,
      Executor threads,
      BoundedExecutor.SharedBudget budget) {
    this.store = store;
    this.blobs = blobs;
    this.staging = staging;
    this.failpoints = failpoints;
    this.executor = new BoundedExecutor(threads, budget);
  }

  /** The content of a file. Its chunks are known after {@link ChunkWriter#await}. */
  public static final class FileContent {
    private final List<PendingChunk> cuts = new ArrayList<>(1);
    private long size;
    private int known;

    private void append(PendingChunk cut) {
      if (cuts.size() >= MAX_CHUNKS) {
        throw Fault.of(
                ErrorCode.RESOURCE_LIMIT,
                "a file of more than " + size + " bytes has more than " + MAX_CHUNKS + " chunks",
                "exclude the file, or write it without so many small holes")
            .exception();
      }
      cuts.add(cut);
    }

    /** Returns how many chunks and holes the file has. */
    public int chunkCount() {
      return cuts.size();
    }

    /** Tells whether all chunks that were added are known. */
    public boolean isKnown() {
      while (known < cuts.size() && cuts.get(known).id != null) {
        known++;
      }
      return known == cuts.size();
    }

    /** Returns the size in bytes, including holes. */
    public long size() {
      return size;
    }

    public List<ChunkId> chunks() {
      return cuts.stream().map(PendingChunk::id).toList();
    }
  }

  private static final class PendingChunk {
    private volatile @Nullable ChunkId id;

    ChunkId id() {
      ChunkId known = id;
      if (known == null) {
        throw new IllegalStateException("the content is still being stored");
      }
      return known;
    }
  }

  /** Starts a file. */
  public FileContent begin() {
    return new FileContent();
  }

  /** Appends a stream to a file, up to the end of the stream. */
  public void add(FileContent to, InputStream content) throws IOException {
    chunker.cut(
        content,
        new Chunker.ChunkSink() {
          @Override
          public void chunk(byte[] bytes) throws IOException {
            PendingChunk cut = new PendingChunk();
            to.append(cut);
            to.size += bytes.length;
            executor.submit(bytes.length, () -> keep(bytes, cut));
          }

          @Override
          public void hole(long length) {
            addHole(to, length);
          }
        });
  }

  /** Appends a hole, merging it with a hole directly before it. */
  public void addHole(FileContent to, long length) {
    ChunkId before = to.cuts.isEmpty() ? null : to.cuts.getLast().id;
    PendingChunk cut = new PendingChunk();
    if (before != null && before.isHole()) {
      to.cuts.removeLast();
      cut.id = ChunkId.hole(before.holeLength() + length);
    } else {
      cut.id = ChunkId.hole(length);
    }
    to.append(cut);
    to.size += length;
  }

  private void keep(byte[] bytes, PendingChunk cut) throws IOException {
    ChunkId id = ChunkId.of(bytes, 0, bytes.length);
    cut.id = id;
    if (store.contains(id) || !pending.add(id)) {
      return;
    }
    newChunks.increment();
    store.requireRoomInIndex(pending.size(), newChunks.sum());
    PackWriter full;
    try (ZstdCompressor compressor = ZstdCompressor.borrow()) {
      int length = compressor.compress(bytes);
      newBytes.add(bytes.length);
      storedBytes.add(length);
      full = write(id, compressor.result(), length, bytes.length);
    }
    if (full != null) {
      finish(full);
    }
  }

  /** Returns the pack if it is now full. */
  private @Nullable PackWriter write(ChunkId id, byte[] compressed, int length, int size)
      throws IOException {
    packing.lock();
    try {
      PackWriter open = pack;
      if (open == null) {
        open = new PackWriter(staging, failpoints);
        pack = open;
      }
      open.add(id, compressed, 0, length, size);
      if (open.size() < PACK_SIZE && open.count() < PACK_CHUNKS) {
        return null;
      }
      pack = null;
      return open;
    } finally {
      packing.unlock();
    }
  }

  private void finish(PackWriter full) throws IOException {
    try (full) {
      Map<ChunkId, ChunkLocation> stored = full.finish(blobs);
      store.register(stored);
      pending.removeAll(stored.keySet()); // Later ones are found in the store.
    }
  }

  /** Returns when the chunks of everything added are known. */
  public void await() throws IOException {
    executor.await();
  }

  /** Returns when everything added is durable. */
  public void commit() throws IOException {
    await();
    PackWriter open = pack;
    pack = null;
    if (open != null) {
      finish(open);
    }
  }

  /** Returns the number of content bytes that the store did not have. */
  public long newBytes() {
    return newBytes.sum();
  }

  /** Returns the number of bytes that the new content takes in the store. */
  public long storedBytes() {
    return storedBytes.sum();
  }

  @Override
  public void close() throws IOException {
    executor.cancel();
    PackWriter open = pack;
    pack = null;
    if (open != null) {
      open.close();
    }
  }
}
