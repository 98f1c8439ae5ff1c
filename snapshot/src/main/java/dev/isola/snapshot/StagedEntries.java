package dev.isola.snapshot;

import dev.isola.snapshot.SnapshotWriter.StagedFile;
import dev.isola.snapshot.chunk.ChunkWriter;
import dev.isola.snapshot.manifest.EntrySpool;
import dev.isola.snapshot.manifest.SnapshotEntry;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.function.Function;

/**
 * Entries whose content a {@link SnapshotWriter} has stored or is storing, with a key each. They
 * are in a file; only those whose content is still being stored are in memory. Not thread-safe.
 */
public final class StagedEntries implements AutoCloseable {
  /** The most bytes of entries in memory. */
  private static final long MAX_PENDING = 4 << 20;

  private final EntrySpool spool;
  private final ChunkWriter writer;
  private final ArrayDeque<PendingEntry> pending = new ArrayDeque<>();
  private long pendingBytes;
  private long count;
  private long bytes;

  private record PendingEntry(String key, StagedFile file, long weight) {}

  StagedEntries(EntrySpool spool, ChunkWriter writer) {
    this.spool = spool;
    this.writer = writer;
  }

  /**
   * Adds an entry.
   *
   * @param key empty for none
   * @throws dev.isola.spi.error.LimitExceeded if names and attributes exceed the limit of a
   *     snapshot, or that of the server
   */
  public void add(String key, StagedFile file) {
    long weight = file.sizeInMemory() + key.length();
    pending.add(new PendingEntry(key, file, weight));
    pendingBytes += weight;
    count++;
    bytes += file.size();
    try {
      if (pendingBytes > MAX_PENDING) {
        writer.await();
      }
      drain();
    } catch (IOException e) {
      throw SnapshotStore.storeFailure("the snapshot cannot be written", e);
    }
  }

  private void drain() throws IOException {
    for (PendingEntry next = pending.peek();
        next != null && next.file().isKnown();
        next = pending.peek()) {
      spool.add(next.key(), next.file().entry());
      pendingBytes -= next.weight();
      pending.remove();
    }
  }

  /** Returns the spool with all entries. */
  EntrySpool complete() throws IOException {
    writer.await();
    drain();
    return spool;
  }

  public long count() {
    return count;
  }

  /** Returns the size of the content of all entries. */
  public long bytes() {
    return bytes;
  }

  /**
   * Prepares {@link #find}.
   *
   * @return false if there are too many entries, of which none will be found
   */
  public boolean index() {
    try {
      return complete().buildIndex();
    } catch (IOException e) {
      throw SnapshotStore.storeFailure("the snapshot cannot be written", e);
    }
  }

  /** Returns the entry that was added last with a key before {@link #index}. */
  public Optional<StagedFile> find(String key) {
    try {
      return spool.find(key).map(StagedFile::of);
    } catch (IOException e) {
      throw SnapshotStore.storeFailure("the snapshot cannot be written", e);
    }
  }

  /** Returns the keys in the order in which the entries were added. */
  public Iterable<String> keys() {
    return () -> new RowIterator<>(EntrySpool.Row::key);
  }

  /** Returns the entries in the order in which they were added. */
  public Iterable<SnapshotEntry> entries() {
    return () -> new RowIterator<>(EntrySpool.Row::entry);
  }

  private final class RowIterator<T> implements Iterator<T> {
    private final EntrySpool.Rows rows;
    private final Function<EntrySpool.Row, T> part;
    private long left;

    private RowIterator(Function<EntrySpool.Row, T> part) {
      this.part = part;
      try {
        EntrySpool all = complete();
        this.rows = all.rows();
        this.left = all.count();
      } catch (IOException e) {
        throw SnapshotStore.storeFailure("the snapshot cannot be written", e);
      }
    }

    @Override
    public boolean hasNext() {
      return left > 0;
    }

    @Override
    public T next() {
      if (left == 0) {
        throw new NoSuchElementException();
      }
      left--;
      try {
        return part.apply(rows.next().orElseThrow());
      } catch (IOException e) {
        throw SnapshotStore.storeFailure("the snapshot cannot be written", e);
      }
    }
  }

  @Override
  public void close() {
    pending.clear();
    try {
      spool.close();
    } catch (IOException e) {
      throw SnapshotStore.storeFailure("unfinished files cannot be removed", e);
    }
  }
}
