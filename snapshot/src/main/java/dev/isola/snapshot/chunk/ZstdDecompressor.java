package dev.isola.snapshot.chunk;

import com.github.luben.zstd.ZstdDecompressCtx;
import com.github.luben.zstd.ZstdException;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;

/** Undoes what a {@link ZstdCompressor} did, with tables that are used again. */
final class ZstdDecompressor implements AutoCloseable {
  /** Larger than chunks ever were or will be. */
  private static final int MOST = 64 << 20;

  private static final ArrayBlockingQueue<ZstdDecompressor> IDLE = new ArrayBlockingQueue<>(8);

  private final ZstdDecompressCtx tables = new ZstdDecompressCtx();

  private ZstdDecompressor() {}

  private static ZstdDecompressor borrow() {
    ZstdDecompressor idle = IDLE.poll();
    return idle == null ? new ZstdDecompressor() : idle;
  }

  /** Returns the content; empty when it has not that size, or is not what was squeezed. */
  static Optional<byte[]> decompress(byte[] from, int offset, int length, int size) {
    // A pack's rows may have been flipped: nothing is allocated on their word alone.
    if (size < 0 || size > MOST || length < 0 || offset + length > from.length) {
      return Optional.empty();
    }
    try (ZstdDecompressor expander = borrow()) {
      byte[] content = new byte[size];
      int got = expander.tables.decompressByteArray(content, 0, size, from, offset, length);
      return got == size ? Optional.of(content) : Optional.empty();
    } catch (ZstdException damaged) {
      return Optional.empty();
    }
  }

  @Override
  public void close() {
    if (!IDLE.offer(this)) {
      tables.close();
    }
  }
}
