package dev.isola.snapshot.chunk;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdException;
import java.util.Optional;

/** Zstandard at the one level that we use: a higher one saves a little and takes much longer. */
public final class Squeezing {
  private static final int LEVEL = 3;

  private Squeezing() {}

  public static byte[] squeeze(byte[] content) {
    return Zstd.compress(content, LEVEL);
  }

  static int bound(int length) {
    return Math.toIntExact(Zstd.compressBound(length));
  }

  /** Squeezes a part into {@code to}, which is as long as {@link #bound} says, or longer. */
  static int squeeze(byte[] content, int offset, int length, byte[] to) {
    return (int) Zstd.compressByteArray(to, 0, to.length, content, offset, length, LEVEL);
  }

  /** Returns the content; empty when it has not that size, or is not what was squeezed. */
  public static Optional<byte[]> restore(byte[] squeezed, int size) {
    try {
      byte[] content = new byte[size];
      long got = Zstd.decompressByteArray(content, 0, size, squeezed, 0, squeezed.length);
      return got == size ? Optional.of(content) : Optional.empty();
    } catch (ZstdException damaged) {
      return Optional.empty();
    }
  }
}
