package dev.isola.snapshot.chunk;

import java.io.IOException;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Reads the chunks of one snapshot. Its chunks are close together in their packs and are mostly
 * read in order, so each read fetches a whole run of the chunks that are read next, and the last
 * few runs are cached; otherwise every small file would cost one request. Thread-safe.
 */
public final class ChunkReader {
  private static final int CACHED_RUNS = 4;

  private final ChunkStore store;
  private volatile Map<ChunkId, ChunkRun> runs = Map.of();
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<ChunkRun, byte[]> last =
      new LinkedHashMap<>(CACHED_RUNS, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<ChunkRun, byte[]> eldest) {
          return size() > CACHED_RUNS;
        }
      };

  ChunkReader(ChunkStore store) {
    this.store = store;
  }

  /**
   * Announces the chunks that are read next.
   *
   * @param ids at most {@link ChunkStore#MAX_LOOKUP}
   * @throws DamagedException if a chunk is missing
   */
  public void prepare(Collection<ChunkId> ids) throws DamagedException {
    Map<ChunkId, ChunkRun> next = new HashMap<>();
    for (ChunkRun chunkRun : store.runs(ids)) {
      chunkRun.chunks().keySet().forEach(id -> next.put(id, chunkRun));
    }
    runs = next;
  }

  /**
   * Returns the content of a chunk.
   *
   * @throws DamagedException if the chunk is missing or corrupt
   */
  public byte[] read(ChunkId id) throws IOException {
    ChunkRun chunkRun = runs.get(id);
    if (chunkRun == null) {
      chunkRun = store.runs(List.of(id)).getFirst();
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

  /**
   * Returns the uncompressed size of a chunk.
   *
   * @throws DamagedException if the chunk is missing
   */
  public int size(ChunkId id) throws DamagedException {
    return store.size(id);
  }
}
