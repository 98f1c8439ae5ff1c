package dev.isola.snapshot.chunk;

import dev.isola.snapshot.blob.Blobs;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Adds content to a store. What the store has already is not written again. Nothing that it returns
 * may be relied on before {@link #commit}. Not for several threads.
 */
public final class ChunkWriter implements AutoCloseable {
  /** Large enough that a file more or less does not matter, small enough to be rewritten. */
  private static final long FULL = 16L << 20;

  private final ChunkStore store;
  private final Blobs blobs;
  private final Path staging;
  private final Chunker chunker = new Chunker();
  private @Nullable PackWriter pack;
  private long newBytes;
  private long storedBytes;

  ChunkWriter(ChunkStore store, Blobs blobs, Path staging) {
    this.store = store;
    this.blobs = blobs;
    this.staging = staging;
  }

  /**
   * What a file holds.
   *
   * @param size in bytes
   */
  public record Content(long size, List<ChunkId> chunks) {
    public Content {
      chunks = List.copyOf(chunks);
    }
  }

  /** Reads a file to its end. */
  public Content add(InputStream file) throws IOException {
    List<ChunkId> chunks = new ArrayList<>();
    long[] size = {0};
    chunker.cut(
        file,
        (bytes, offset, length) -> {
          chunks.add(add(bytes, offset, length));
          size[0] += length;
        });
    return new Content(size[0], chunks);
  }

  private ChunkId add(byte[] bytes, int offset, int length) throws IOException {
    ChunkId id = ChunkId.of(bytes, offset, length);
    PackWriter open = pack;
    if (store.contains(id) || (open != null && open.contains(id))) {
      return id;
    }
    if (open == null) {
      open = new PackWriter(staging);
      pack = open;
    }
    long before = open.size();
    open.add(id, bytes, offset, length);
    newBytes += length;
    storedBytes += open.size() - before;
    if (open.size() >= FULL) {
      flush(open);
    }
    return id;
  }

  private void flush(PackWriter full) throws IOException {
    store.learn(full.finish(blobs));
    pack = null;
  }

  /** Returns when all that was added is durable. */
  public void commit() throws IOException {
    PackWriter open = pack;
    if (open != null) {
      flush(open);
    }
  }

  /** Returns how many bytes of content the store did not have. */
  public long newBytes() {
    return newBytes;
  }

  /** Returns how many bytes those take in the store. */
  public long storedBytes() {
    return storedBytes;
  }

  @Override
  public void close() throws IOException {
    PackWriter open = pack;
    if (open != null) {
      open.close();
      pack = null;
    }
  }
}
