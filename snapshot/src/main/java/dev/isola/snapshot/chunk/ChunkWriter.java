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
 * Adds content to a store. What the store has already is not written again. The caller reads and
 * cuts; hashing, squeezing and writing are done by the store's threads meanwhile. Nothing may be
 * relied on before {@link #commit}. Not for several callers.
 */
public final class ChunkWriter implements AutoCloseable {
  /** Large enough that a file more or less does not matter, small enough to be rewritten. */
  private static final long FULL = 16L << 20;

  /** How many bytes may be on their way. */
  private static final int BUDGET = 32 << 20;

  private final ChunkStore store;
  private final BlobStore blobs;
  private final Path staging;
  private final FailpointListener steps;
  private final BoundedExecutor flight;
  private final Chunker chunker = new Chunker();
  private final Set<ChunkId> mine = ConcurrentHashMap.newKeySet();
  private final LongAdder newBytes = new LongAdder();
  private final LongAdder storedBytes = new LongAdder();
  private final ReentrantLock packing = new ReentrantLock();
  private @Nullable PackWriter pack;

  ChunkWriter(
      ChunkStore store, BlobStore blobs, Path staging, FailpointListener steps, Executor threads) {
    this.store = store;
    this.blobs = blobs;
    this.staging = staging;
    this.steps = steps;
    this.flight = new BoundedExecutor(threads, BUDGET);
  }

  /** What a file holds; how it is cut is known after {@link ChunkWriter#commit}. */
  public static final class FileContent {
    private final List<PendingChunk> cuts = new ArrayList<>(1);
    private long size;

    /** Returns how many bytes it has, holes among them. */
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
        throw new IllegalStateException("the content is not committed");
      }
      return known;
    }
  }

  /** Begins a file. */
  public FileContent begin() {
    return new FileContent();
  }

  /** Reads to the end of what follows in a file. */
  public void add(FileContent to, InputStream content) throws IOException {
    chunker.cut(
        content,
        new Chunker.ChunkSink() {
          @Override
          public void chunk(byte[] bytes) throws IOException {
            PendingChunk cut = new PendingChunk();
            to.cuts.add(cut);
            to.size += bytes.length;
            flight.submit(bytes.length, () -> keep(bytes, cut));
          }

          @Override
          public void hole(long length) {
            addHole(to, length);
          }
        });
  }

  /** Adds zeros that were not written; they make one hole with those before them. */
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
    if (store.contains(id) || !mine.add(id)) {
      return;
    }
    PackWriter full;
    try (ZstdCompressor squeezer = ZstdCompressor.borrow()) {
      int length = squeezer.compress(bytes);
      newBytes.add(bytes.length);
      storedBytes.add(length);
      full = write(id, squeezer.result(), length, bytes.length);
    }
    if (full != null) {
      finish(full);
    }
  }

  /** Returns the pack that is full now, if it is. */
  private @Nullable PackWriter write(ChunkId id, byte[] squeezed, int length, int size)
      throws IOException {
    packing.lock();
    try {
      PackWriter open = pack;
      if (open == null) {
        open = new PackWriter(staging, steps);
        pack = open;
      }
      open.add(id, squeezed, 0, length, size);
      if (open.size() < FULL) {
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

  /** Returns when all that was added is durable. */
  public void commit() throws IOException {
    flight.await();
    PackWriter open = pack;
    pack = null;
    if (open != null) {
      finish(open);
    }
  }

  /** Returns how many bytes of content the store did not have. */
  public long newBytes() {
    return newBytes.sum();
  }

  /** Returns how many bytes those take in the store. */
  public long storedBytes() {
    return storedBytes.sum();
  }

  @Override
  public void close() throws IOException {
    flight.cancel();
    PackWriter open = pack;
    pack = null;
    if (open != null) {
      open.close();
    }
  }
}
