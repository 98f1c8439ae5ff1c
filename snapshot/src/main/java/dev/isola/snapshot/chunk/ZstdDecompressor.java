package dev.isola.snapshot.chunk;

import com.github.luben.zstd.ZstdDecompressCtx;
import com.github.luben.zstd.ZstdException;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;

/** Decompresses chunks. Contexts are pooled, like those of {@link ZstdCompressor}. */
final class ZstdDecompressor implements AutoCloseable {
  /** Larger than any chunk of any version. */
  private static final int MAX_SIZE = 64 << 20;

  private static final ArrayBlockingQueue<ZstdDecompressor> IDLE = new ArrayBlockingQueue<>(8);

  private final ZstdDecompressCtx tables = new ZstdDecompressCtx();

  private ZstdDecompressor() {}

  private static ZstdDecompressor borrow() {
    ZstdDecompressor idle = IDLE.poll();
    return idle == null ? new ZstdDecompressor() : idle;
  }

  /** Returns the content, or empty if it is corrupt or has another size. */
  static Optional<byte[]> decompress(byte[] from, int offset, int length, int size) {
    // The rows of the pack may be corrupt, so their sizes are checked before memory is allocated.
    if (size < 0 || size > MAX_SIZE || length < 0 || offset + length > from.length) {
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
