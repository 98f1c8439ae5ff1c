package dev.isola.snapshot;

import dev.isola.snapshot.chunk.ChunkId;
import dev.isola.snapshot.chunk.ChunkReader;
import dev.isola.snapshot.chunk.ChunkStore;
import dev.isola.snapshot.chunk.DamagedException;
import dev.isola.snapshot.failpoint.FailpointListener;
import dev.isola.snapshot.manifest.Snapshot;
import dev.isola.snapshot.manifest.SnapshotEntry;
import java.io.InputStream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.Spliterators;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** Reads a verified snapshot. Garbage collection waits until the reader is closed. */
public final class SnapshotReader implements AutoCloseable {
  private final Snapshot snapshot;
  private final SnapshotEntries entries;
  private final ChunkReader chunks;
  private final FailpointListener failpoints;
  private final Runnable onClose;
  private final AtomicBoolean closed = new AtomicBoolean();

  SnapshotReader(
      Snapshot snapshot,
      SnapshotEntries entries,
      ChunkReader chunks,
      FailpointListener failpoints,
      Runnable onClose) {
    this.snapshot = snapshot;
    this.entries = entries;
    this.chunks = chunks;
    this.failpoints = failpoints;
    this.onClose = onClose;
  }

  public Snapshot snapshot() {
    return snapshot;
  }

  /** Returns the entries. */
  public SnapshotEntries entries() {
    return entries;
  }

  /** Returns all entries for a caller that reads their content in this order. */
  Stream<SnapshotEntry> entriesWithContent() {
    Iterator<SnapshotEntry> ahead = new PreparingIterator(entries.iterator());
    return StreamSupport.stream(Spliterators.spliteratorUnknownSize(ahead, 0), false);
  }

  /** Reads a few entries ahead, so that their chunks are read together. */
  private final class PreparingIterator implements Iterator<SnapshotEntry> {
    /** The most bytes of entries in memory, apart from the last one. */
    private static final long MAX_BYTES = 1 << 20;

    private final Iterator<SnapshotEntry> rest;
    private final ArrayDeque<SnapshotEntry> ahead = new ArrayDeque<>();

    private PreparingIterator(Iterator<SnapshotEntry> rest) {
      this.rest = rest;
    }

    @Override
    public boolean hasNext() {
      return !ahead.isEmpty() || rest.hasNext();
    }

    @Override
    public SnapshotEntry next() {
      if (ahead.isEmpty()) {
        fill();
      }
      return ahead.remove();
    }

    private void fill() {
      Set<ChunkId> ids = new HashSet<>();
      long bytes = 0;
      do {
        SnapshotEntry entry = rest.next();
        ahead.add(entry);
        bytes += entry.sizeInMemory();
        entry.chunks().stream()
            .filter(chunk -> !chunk.isHole())
            .limit(ChunkStore.MAX_LOOKUP)
            .forEach(ids::add);
      } while (bytes < MAX_BYTES && ids.size() < ChunkStore.MAX_LOOKUP && rest.hasNext());
      prepare(ids);
    }
  }

  private void prepare(Collection<ChunkId> ids) {
    try {
      chunks.prepare(ids);
    } catch (DamagedException e) {
      throw SnapshotStore.storeFailure("snapshot " + snapshot.id() + " cannot be read", e);
    }
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
        at += size(chunk);
      }
    }
    if (at > begin) {
      extents.add(new Extent(begin, at - begin));
    }
    return extents;
  }

  private int size(ChunkId chunk) {
    try {
      return chunks.size(chunk);
    } catch (DamagedException e) {
      throw SnapshotStore.storeFailure("snapshot " + snapshot.id() + " cannot be read", e);
    }
  }

  /** Returns the data of all extents of a file, concatenated. */
  public InputStream data(SnapshotEntry file) {
    return content(file.chunks().stream().filter(chunk -> !chunk.isHole()).toList());
  }

  private InputStream content(List<ChunkId> from) {
    return new ChunkInputStream(
        from.size() > ChunkStore.MAX_LOOKUP ? new SlicedChunks(from) : from.iterator(),
        chunks,
        failpoints);
  }

  /** The chunks of a large file, of which some are prepared at a time. */
  private final class SlicedChunks implements Iterator<ChunkId> {
    private final List<ChunkId> all;
    private int at;

    private SlicedChunks(List<ChunkId> all) {
      this.all = all;
    }

    @Override
    public boolean hasNext() {
      return at < all.size();
    }

    @Override
    public ChunkId next() {
      if (at % ChunkStore.MAX_LOOKUP == 0) {
        int end = Math.min(all.size(), at + ChunkStore.MAX_LOOKUP);
        prepare(all.subList(at, end).stream().filter(chunk -> !chunk.isHole()).toList());
      }
      return all.get(at++);
    }
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      entries.close();
      onClose.run();
    }
  }
}
