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

  /**
   * The rows of a pack. They are in memory for one pack at a time.
   *
   * @param kept those that are needed
   */
  private record PackRows(Map<ChunkId, ChunkLocation> all, Map<ChunkId, ChunkLocation> kept) {
    private static long bytes(Map<ChunkId, ChunkLocation> rows) {
      return rows.values().stream().mapToLong(ChunkLocation::length).sum();
    }

    private boolean isSparse() {
      return bytes(kept) < bytes(all) - bytes(kept);
    }
  }

  /**
   * Removes unused packs first, because on a full disk that makes room for rewriting the others.
   */
  ChunkStore.GarbageStats run() throws IOException {
    List<String> sparse = new ArrayList<>();
    for (String name : blobs.list(Pack.FOLDER)) {
      if (store.isDamaged(name)) {
        continue; // Its chunks may still be recoverable.
      }
      PackRows rows = read(name);
      if (rows.kept().isEmpty()) {
        remove(name, rows.all().keySet(), blobs.size(name));
        failpoints.reached(SnapshotFailpoint.COLLECT_REMOVED);
      } else if (rows.isSparse()) {
        sparse.add(name);
      }
    }
    for (String name : sparse) {
      rewrite(name);
    }
    return new ChunkStore.GarbageStats(packs, bytes);
  }

  private PackRows read(String name) throws IOException {
    Map<ChunkId, ChunkLocation> all = Pack.rows(blobs, name);
    Map<ChunkId, ChunkLocation> kept = new HashMap<>();
    all.forEach(
        (id, location) -> {
          if (needed.contains(id) && store.readsFrom(name, id)) {
            kept.put(id, location);
          }
        });
    return new PackRows(all, kept);
  }

  private void rewrite(String name) throws IOException {
    PackRows rows = read(name);
    long size = blobs.size(name);
    long written;
    try {
      written = store.rewrite(rows.kept());
    } catch (DamagedException e) {
      return; // The pack stays; verify reports it, and so does opening a snapshot that needs it.
    }
    failpoints.reached(SnapshotFailpoint.COLLECT_REWRITTEN);
    remove(name, rows.all().keySet(), size - written);
    failpoints.reached(SnapshotFailpoint.COLLECT_REPLACED);
  }

  private void remove(String name, Set<ChunkId> chunks, long freed) throws IOException {
    store.unregister(name, chunks);
    blobs.remove(name);
    packs++;
    bytes += freed;
  }
}
