package dev.isola.snapshot;

import dev.isola.snapshot.manifest.EntryReader;
import dev.isola.snapshot.manifest.Manifests;
import dev.isola.snapshot.manifest.SnapshotEntry;
import java.io.IOException;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * The entries of a snapshot in the order in which they were captured: a folder precedes its
 * contents. They are read one at a time, because they may take more memory than the server has.
 */
public final class SnapshotEntries implements Iterable<SnapshotEntry>, AutoCloseable {
  private final String id;
  private final Manifests.StoredList list;

  SnapshotEntries(String id, Manifests.StoredList list) {
    this.id = id;
    this.list = list;
  }

  /**
   * Returns an iterator over all entries.
   *
   * @throws dev.isola.spi.error.Gone with {@code SNAPSHOT_DAMAGED}, also from the iterator, if the
   *     list is corrupt
   */
  @Override
  public Iterator<SnapshotEntry> iterator() {
    try {
      return new EntryIterator(list.read());
    } catch (IOException e) {
      throw failure(e);
    }
  }

  /** Returns all entries. */
  public Stream<SnapshotEntry> stream() {
    return StreamSupport.stream(spliterator(), false);
  }

  private RuntimeException failure(IOException e) {
    return SnapshotStore.storeFailure(
        "snapshot " + id + " cannot be read", Manifests.damaged(id, e));
  }

  private final class EntryIterator implements Iterator<SnapshotEntry> {
    private final EntryReader reader;
    private Optional<SnapshotEntry> next;

    private EntryIterator(EntryReader reader) throws IOException {
      this.reader = reader;
      this.next = reader.next();
    }

    @Override
    public boolean hasNext() {
      return next.isPresent();
    }

    @Override
    public SnapshotEntry next() {
      SnapshotEntry entry = next.orElseThrow(NoSuchElementException::new);
      try {
        next = reader.next();
        if (next.isEmpty()) {
          reader.close();
        }
      } catch (IOException e) {
        throw failure(e);
      }
      return entry;
    }
  }

  @Override
  public void close() {
    list.close();
  }
}
