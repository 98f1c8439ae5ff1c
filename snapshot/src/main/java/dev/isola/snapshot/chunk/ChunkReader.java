package dev.isola.snapshot.chunk;

import java.io.IOException;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Reads the chunks of one snapshot. Its chunks are close together in their packs and are mostly
 * read in order, so each read fetches a whole run and the last few runs are cached; otherwise every
 * small file would cost one request. Thread-safe.
 */
public final class ChunkReader {
  private static final int CACHED_RUNS = 4;

  private final ChunkStore store;
  private final Map<ChunkId, ChunkRun> runs = new HashMap<>();
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<ChunkRun, byte[]> last =
      new LinkedHashMap<>(CACHED_RUNS, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<ChunkRun, byte[]> eldest) {
          return size() > CACHED_RUNS;
        }
      };

  ChunkReader(ChunkStore store, Collection<ChunkRun> all) {
    this.store = store;
    for (ChunkRun chunkRun : all) {
      chunkRun.chunks().keySet().forEach(id -> runs.put(id, chunkRun));
    }
  }

  /**
   * Returns the content of a chunk.
   *
   * @throws DamagedException if the chunk is corrupt or does not belong to this snapshot
   */
  public byte[] read(ChunkId id) throws IOException {
    ChunkRun chunkRun = runs.get(id);
    if (chunkRun == null) {
      throw new DamagedException("chunk " + id, "it does not belong to the snapshot");
    }
    return chunkRun.content(id, bytes(chunkRun));
  }

  private byte[] bytes(ChunkRun chunkRun) throws IOException {
    lock.lock();
    try {
      byte[] kept = last.get(chunkRun);
      if (kept != null) {
        return kept;
      }
    } finally {
      lock.unlock();
    }
    byte[] bytes = store.read(chunkRun);
    lock.lock();
    try {
      last.put(chunkRun, bytes);
    } finally {
      lock.unlock();
    }
    return bytes;
  }

  /** Returns the uncompressed size of a chunk. */
  public int size(ChunkId id) {
    ChunkRun chunkRun = runs.get(id);
    ChunkLocation location = chunkRun == null ? null : chunkRun.chunks().get(id);
    if (location == null) {
      throw new IllegalArgumentException("the snapshot has no chunk " + id);
    }
    return location.size();
  }
}
