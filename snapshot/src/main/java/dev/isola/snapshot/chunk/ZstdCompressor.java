package dev.isola.snapshot.chunk;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdCompressCtx;
import java.util.concurrent.ArrayBlockingQueue;

/**
 * Compresses chunks with Zstandard. Instances are pooled with their output buffer, because creating
 * a context takes longer than compressing a small chunk. Not thread-safe.
 */
final class ZstdCompressor implements AutoCloseable {
  /** The default of restic; a higher level saves little space and takes much longer. */
  static final int LEVEL = 3;

  private static final ArrayBlockingQueue<ZstdCompressor> IDLE = new ArrayBlockingQueue<>(8);

  private final ZstdCompressCtx tables = new ZstdCompressCtx().setLevel(LEVEL);
  private byte[] result = new byte[0];

  private ZstdCompressor() {}

  /** Returns an unused instance. Closing it returns it to the pool. */
  static ZstdCompressor borrow() {
    ZstdCompressor idle = IDLE.poll();
    return idle == null ? new ZstdCompressor() : idle;
  }

  /** Compresses the content and returns the number of bytes written to {@link #result}. */
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
