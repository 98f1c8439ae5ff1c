package dev.isola.snapshot;

import dev.isola.snapshot.chunk.ChunkId;
import dev.isola.snapshot.chunk.ChunkReader;
import dev.isola.snapshot.failpoint.FailpointListener;
import dev.isola.snapshot.failpoint.SnapshotFailpoint;
import dev.isola.snapshot.manifest.Snapshot;
import dev.isola.snapshot.manifest.SnapshotEntry;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/** Reads a verified snapshot. Garbage collection waits until the reader is closed. */
public final class SnapshotReader implements AutoCloseable {
  private final Snapshot snapshot;
  private final List<SnapshotEntry> entries;
  private final ChunkReader chunks;
  private final FailpointListener failpoints;
  private final Runnable onClose;
  private final AtomicBoolean closed = new AtomicBoolean();

  SnapshotReader(
      Snapshot snapshot,
      List<SnapshotEntry> entries,
      ChunkReader chunks,
      FailpointListener failpoints,
      Runnable onClose) {
    this.snapshot = snapshot;
    this.entries = List.copyOf(entries);
    this.chunks = chunks;
    this.failpoints = failpoints;
    this.onClose = onClose;
  }

  public Snapshot snapshot() {
    return snapshot;
  }

  /**
   * Returns the entries in the order in which they were captured: a folder precedes its contents.
   */
  public List<SnapshotEntry> entries() {
    return entries;
  }

  /** Returns the content of a file, with holes as zeros. Holds one chunk in memory at a time. */
  public InputStream content(SnapshotEntry file) {
    return content(file.chunks());
  }

  /** Returns the ranges of a file that hold data. Everything else reads as zeros. */
  public List<Extent> extents(SnapshotEntry file) {
    List<Extent> extents = new ArrayList<>();
    long at = 0;
    long begin = 0;
    for (ChunkId chunk : file.chunks()) {
      if (chunk.isHole()) {
        if (at > begin) {
          extents.add(new Extent(begin, at - begin));
        }
        at += chunk.holeLength();
        begin = at;
      } else {
        at += chunks.size(chunk);
      }
    }
    if (at > begin) {
      extents.add(new Extent(begin, at - begin));
    }
    return extents;
  }

  /** Returns the data of all extents of a file, concatenated. */
  public InputStream data(SnapshotEntry file) {
    return content(file.chunks().stream().filter(chunk -> !chunk.isHole()).toList());
  }

  private InputStream content(List<ChunkId> from) {
    return new ChunkInputStream(
        from.iterator(),
        chunk -> {
          failpoints.reached(SnapshotFailpoint.RESTORE_READ);
          return chunks.read(chunk);
        });
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      onClose.run();
    }
  }
}
