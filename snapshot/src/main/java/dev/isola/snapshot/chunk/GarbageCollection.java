package dev.isola.snapshot.chunk;

import dev.isola.snapshot.blob.BlobStore;
import dev.isola.snapshot.failpoint.FailpointListener;
import dev.isola.snapshot.failpoint.SnapshotFailpoint;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** One garbage collection. */
final class GarbageCollection {
  private final ChunkStore store;
  private final BlobStore blobs;
  private final FailpointListener failpoints;
  private final Set<ChunkId> needed;
  private int packs;
  private long bytes;

  GarbageCollection(
      ChunkStore store, BlobStore blobs, FailpointListener failpoints, Set<ChunkId> needed) {
    this.store = store;
    this.blobs = blobs;
    this.failpoints = failpoints;
    this.needed = needed;
  }

  private record Sparse(
      String name, long size, Map<ChunkId, ChunkLocation> kept, Set<ChunkId> all) {}

  /**
   * Removes unused packs first, because on a full disk that makes room for rewriting the others.
   */
  ChunkStore.GarbageStats run() throws IOException {
    List<Sparse> sparse = new ArrayList<>();
    for (String name : blobs.list(Pack.FOLDER)) {
      if (store.isDamaged(name)) {
        continue; // Its chunks may still be recoverable.
      }
      Map<ChunkId, ChunkLocation> rows = Pack.rows(blobs, name);
      Map<ChunkId, ChunkLocation> kept = new HashMap<>();
      long used = 0;
      long unused = 0;
      for (Map.Entry<ChunkId, ChunkLocation> row : rows.entrySet()) {
        if (needed.contains(row.getKey()) && store.readsFrom(name, row.getKey())) {
          kept.put(row.getKey(), row.getValue());
          used += row.getValue().length();
        } else {
          unused += row.getValue().length();
        }
      }
      long size = blobs.size(name);
      if (kept.isEmpty()) {
        remove(name, rows.keySet(), size);
        failpoints.reached(SnapshotFailpoint.COLLECT_REMOVED);
      } else if (used < unused) {
        sparse.add(new Sparse(name, size, kept, rows.keySet()));
      }
    }
    for (Sparse pack : sparse) {
      rewrite(pack);
    }
    return new ChunkStore.GarbageStats(packs, bytes);
  }

  private void rewrite(Sparse pack) throws IOException {
    long written;
    try {
      written = store.rewrite(pack.kept());
    } catch (DamagedException e) {
      return; // The pack stays; verify reports it, and so does opening a snapshot that needs it.
    }
    failpoints.reached(SnapshotFailpoint.COLLECT_REWRITTEN);
    remove(pack.name(), pack.all(), pack.size() - written);
    failpoints.reached(SnapshotFailpoint.COLLECT_REPLACED);
  }

  private void remove(String name, Set<ChunkId> chunks, long freed) throws IOException {
    store.unregister(name, chunks);
    blobs.remove(name);
    packs++;
    bytes += freed;
  }
}
