package dev.isola.snapshot.chunk;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdCompressCtx;
import java.util.concurrent.ArrayBlockingQueue;

/**
 * Zstandard with its tables and a place for the result, which are used again: making them takes
 * longer than squeezing a small chunk. For one thread at a time.
 */
final class ZstdCompressor implements AutoCloseable {
  /** As restic does by itself: a higher level saves a little and takes much longer. */
  static final int LEVEL = 3;

  private static final ArrayBlockingQueue<ZstdCompressor> IDLE = new ArrayBlockingQueue<>(8);

  private final ZstdCompressCtx tables = new ZstdCompressCtx().setLevel(LEVEL);
  private byte[] result = new byte[0];

  private ZstdCompressor() {}

  /** Returns one that nobody uses; closing it gives it back. */
  static ZstdCompressor borrow() {
    ZstdCompressor idle = IDLE.poll();
    return idle == null ? new ZstdCompressor() : idle;
  }

  /** Squeezes and returns how many bytes of {@link #result} that took. */
  int compress(byte[] content) {
    int bound = Math.toIntExact(Zstd.compressBound(content.length));
    if (result.length < bound) {
      result = new byte[bound];
    }
    return tables.compressByteArray(result, 0, result.length, content, 0, content.length);
  }

  byte[] result() {
    return result;
  }

  @Override
  public void close() {
    if (!IDLE.offer(this)) {
      tables.close();
    }
  }
}
