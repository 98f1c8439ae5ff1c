package dev.isola.snapshot.chunk;

import dev.isola.snapshot.blob.BlobStore;
import dev.isola.snapshot.failpoint.FailpointListener;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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

  /** The maximum number of bytes in progress. */
  private static final int BUDGET = 32 << 20;

  private final ChunkStore store;
  private final BlobStore blobs;
  private final Path staging;
  private final FailpointListener failpoints;
  private final BoundedExecutor executor;
  private final Chunker chunker = new Chunker();
  private final Set<ChunkId> pending = ConcurrentHashMap.newKeySet();
  private final LongAdder newBytes = new LongAdder();
  private final LongAdder storedBytes = new LongAdder();
  private final ReentrantLock packing = new ReentrantLock();
  private @Nullable PackWriter pack;

  ChunkWriter(
      ChunkStore store,
      BlobStore blobs,
      Path staging,
      FailpointListener failpoints,
      Executor threads) {
    this.store = store;
    this.blobs = blobs;
    this.staging = staging;
    this.failpoints = failpoints;
    this.executor = new BoundedExecutor(threads, BUDGET);
  }

  /** The content of a file. Its chunks are known after {@link ChunkWriter#commit}. */
  public static final class FileContent {
    private final List<PendingChunk> cuts = new ArrayList<>(1);
    private long size;

    /** Returns the size in bytes, including holes. */
    public long size() {
      return size;
    }

    public List<ChunkId> chunks() {
      return cuts.stream().map(PendingChunk::id).toList();
    }
  }

  private static final class PendingChunk {
    private @Nullable ChunkId id;

    ChunkId id() {
      ChunkId known = id;
      if (known == null) {
        throw new IllegalStateException("the content is not committed yet");
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
            to.cuts.add(cut);
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
    to.cuts.add(cut);
    to.size += length;
  }

  private void keep(byte[] bytes, PendingChunk cut) throws IOException {
    ChunkId id = ChunkId.of(bytes, 0, bytes.length);
    cut.id = id;
    if (store.contains(id) || !pending.add(id)) {
      return;
    }
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
      if (open.size() < PACK_SIZE) {
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
      store.register(full.finish(blobs));
    }
  }

  /** Returns when everything added is durable. */
  public void commit() throws IOException {
    executor.await();
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
