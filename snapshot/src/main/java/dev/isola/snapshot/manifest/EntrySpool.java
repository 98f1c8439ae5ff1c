package dev.isola.snapshot.manifest;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Entries with a key each, in an unlinked file, because a sandbox can have more names and
 * attributes than the server has memory. Not thread-safe.
 */
public final class EntrySpool implements AutoCloseable {
  private static final int BUFFER = 64 << 10;

  /** Enough for most rows, so that a lookup is one read. */
  private static final int LOOKUP_BUFFER = 1 << 10;

  private final FileChannel file;
  private final CountingOutputStream out;
  private final DataOutputStream encoder;
  private final ByteBudget budget;
  private final long maxIndexBytes;
  private long count;
  private long length;
  private boolean closed;
  private @Nullable KeyIndex index;

  /**
   * An entry with its key.
   *
   * @param key empty for none
   */
  public record Row(String key, SnapshotEntry entry) {}

  /**
   * Creates an empty spool.
   *
   * @param budget limits the bytes of all spools that share it
   * @param maxIndexBytes the most memory of the index
   */
  public EntrySpool(Path staging, ByteBudget budget, long maxIndexBytes) throws IOException {
    Path name = Files.createTempFile(staging, "entries", ".tmp");
    this.file = FileChannel.open(name, StandardOpenOption.READ, StandardOpenOption.WRITE);
    Files.delete(name);
    this.out =
        new CountingOutputStream(new BufferedOutputStream(Channels.newOutputStream(file), BUFFER));
    this.encoder = new DataOutputStream(out);
    this.budget = budget;
    this.maxIndexBytes = maxIndexBytes;
  }

  /**
   * Adds an entry.
   *
   * @throws dev.isola.spi.error.LimitExceeded if the budget is exhausted
   */
  public void add(String key, SnapshotEntry entry) throws IOException {
    EntryCodec.text(encoder, key);
    EntryCodec.encode(entry, encoder);
    long size = out.count - length;
    budget.reserve(size);
    length += size;
    count++;
  }

  public long count() {
    return count;
  }

  /** Returns the number of bytes of all rows. */
  public long length() {
    return length;
  }

  /** Reads rows in the order in which they were added. */
  public final class Rows implements AutoCloseable {
    private final DataInputStream in =
        new DataInputStream(new BufferedInputStream(new Tail(0), BUFFER));
    private long left = count;

    private Rows() {}

    /** Returns the next row, or empty after the last one. */
    public Optional<Row> next() throws IOException {
      if (left == 0) {
        return Optional.empty();
      }
      left--;
      return Optional.of(read(in));
    }

    @Override
    public void close() {
      // The file belongs to the spool.
    }
  }

  /** Returns all rows that were added so far. */
  public Rows rows() throws IOException {
    out.flush();
    return new Rows();
  }

  /**
   * Indexes the rows by key, for {@link #find}. Rows that are added later are not indexed.
   *
   * @return whether the index fits into its memory
   */
  public boolean buildIndex() throws IOException {
    Optional<KeyIndex> empty = KeyIndex.of(count, maxIndexBytes);
    if (empty.isEmpty()) {
      return false;
    }
    out.flush();
    long at = 0;
    try (CountingInputStream counted =
            new CountingInputStream(new BufferedInputStream(new Tail(0), BUFFER));
        DataInputStream in = new DataInputStream(counted)) {
      for (long i = 0; i < count; i++) {
        String key = read(in).key();
        if (!key.isEmpty()) {
          empty.get().put(key, at, this::keyAt);
        }
        at = counted.count();
      }
    }
    index = empty.get();
    return true;
  }

  /** Returns the entry that was added last with a key; empty without {@link #buildIndex}. */
  public Optional<SnapshotEntry> find(String key) throws IOException {
    KeyIndex known = index;
    if (known == null) {
      return Optional.empty();
    }
    OptionalLong at = known.find(key, this::keyAt);
    return at.isEmpty() ? Optional.empty() : Optional.of(read(from(at.getAsLong())).entry());
  }

  private String keyAt(long offset) throws IOException {
    return EntryCodec.text(from(offset));
  }

  private DataInputStream from(long offset) {
    return new DataInputStream(new BufferedInputStream(new Tail(offset), LOOKUP_BUFFER));
  }

  private static Row read(DataInputStream in) throws IOException {
    return new Row(EntryCodec.text(in), EntryCodec.decode(in));
  }

  /** Counts the bytes that were written. */
  private static final class CountingOutputStream extends FilterOutputStream {
    private long count;

    private CountingOutputStream(OutputStream out) {
      super(out);
    }

    @Override
    public void write(int one) throws IOException {
      out.write(one);
      count++;
    }

    @Override
    public void write(byte[] bytes, int offset, int size) throws IOException {
      out.write(bytes, offset, size);
      count += size;
    }
  }

  /** The file from an offset on, read at its own position. */
  private final class Tail extends InputStream {
    private long at;

    private Tail(long at) {
      this.at = at;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] to, int offset, int wanted) throws IOException {
      int n = file.read(java.nio.ByteBuffer.wrap(to, offset, wanted), at);
      at += Math.max(n, 0);
      return n;
    }
  }

  /** Removes the entries and returns their bytes to the budget. */
  @Override
  public void close() throws IOException {
    if (!closed) { // the interruption of a thread closes the file, too
      closed = true;
      budget.release(length);
      file.close();
    }
  }
}
