package dev.isola.snapshot;

import dev.isola.snapshot.chunk.ChunkId;
import dev.isola.snapshot.chunk.ChunkStore;
import dev.isola.snapshot.manifest.Entry;
import dev.isola.snapshot.manifest.Snapshot;
import java.io.IOException;
import java.io.InputStream;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/** A snapshot that was checked and is read. While it is open nothing of it is collected. */
public final class Opened implements AutoCloseable {
  private final Snapshot snapshot;
  private final List<Entry> entries;
  private final ChunkStore chunks;
  private final Runnable leave;
  private final AtomicBoolean closed = new AtomicBoolean();

  Opened(Snapshot snapshot, List<Entry> entries, ChunkStore chunks, Runnable leave) {
    this.snapshot = snapshot;
    this.entries = List.copyOf(entries);
    this.chunks = chunks;
    this.leave = leave;
  }

  public Snapshot snapshot() {
    return snapshot;
  }

  /** Returns the files in the order in which they were taken: a folder before what is in it. */
  public List<Entry> entries() {
    return entries;
  }

  /** Returns the content of a file; one chunk at a time is in memory. */
  public InputStream content(Entry file) {
    return new Content(file.chunks().iterator());
  }

  private final class Content extends InputStream {
    private final Iterator<ChunkId> rest;
    private byte[] chunk = new byte[0];
    private int at;

    Content(Iterator<ChunkId> rest) {
      this.rest = rest;
    }

    @Override
    public int read() throws IOException {
      return fill() ? chunk[at++] & 0xff : -1;
    }

    @Override
    public int read(byte[] to, int offset, int length) throws IOException {
      if (length == 0) {
        return 0;
      }
      if (!fill()) {
        return -1;
      }
      int count = Math.min(length, chunk.length - at);
      System.arraycopy(chunk, at, to, offset, count);
      at += count;
      return count;
    }

    private boolean fill() throws IOException {
      while (at == chunk.length) {
        if (!rest.hasNext()) {
          return false;
        }
        chunk = chunks.read(rest.next());
        at = 0;
      }
      return true;
    }
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      leave.run();
    }
  }
}
