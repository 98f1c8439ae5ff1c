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
  private static final int KEPT = 4;

  private final ChunkStore store;
  private final Map<ChunkId, ChunkRun> stretches = new HashMap<>();
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<ChunkRun, byte[]> last =
      new LinkedHashMap<>(KEPT, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<ChunkRun, byte[]> eldest) {
          return size() > KEPT;
        }
      };

  ChunkReader(ChunkStore store, Collection<ChunkRun> all) {
    this.store = store;
    for (ChunkRun stretch : all) {
      stretch.chunks().keySet().forEach(id -> stretches.put(id, stretch));
    }
  }

  /**
   * Returns the content of a chunk.
   *
   * @throws DamagedException if the chunk is corrupt or does not belong to this snapshot
   */
  public byte[] read(ChunkId id) throws IOException {
    ChunkRun stretch = stretches.get(id);
    if (stretch == null) {
      throw new DamagedException("chunk " + id, "it does not belong to the snapshot");
    }
    return stretch.content(id, bytes(stretch));
  }

  private byte[] bytes(ChunkRun stretch) throws IOException {
    lock.lock();
    try {
      byte[] kept = last.get(stretch);
      if (kept != null) {
        return kept;
      }
    } finally {
      lock.unlock();
    }
    byte[] bytes = store.read(stretch);
    lock.lock();
    try {
      last.put(stretch, bytes);
    } finally {
      lock.unlock();
    }
    return bytes;
  }

  /** Returns the uncompressed size of a chunk. */
  public int size(ChunkId id) {
    ChunkRun stretch = stretches.get(id);
    ChunkLocation place = stretch == null ? null : stretch.chunks().get(id);
    if (place == null) {
      throw new IllegalArgumentException("the snapshot has no chunk " + id);
    }
    return place.size();
  }
}
