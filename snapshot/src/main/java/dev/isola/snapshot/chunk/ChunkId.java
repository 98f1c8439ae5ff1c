package dev.isola.snapshot.chunk;

import dev.isola.codec.digest.Sha256;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.HexFormat;

/** The SHA-256 of a chunk's content. A hole has no content; its id encodes its length. */
public record ChunkId(long a, long b, long c, long d) {
  /** The length of an id in bytes. */
  public static final int BYTES = 32;

  /** The start of the SHA-256 of empty content, which no chunk can have. */
  private static final long HOLE_A = 0xe3b0c44298fc1c14L;

  private static final long HOLE_B = 0x9afbf4c8996fb924L;
  private static final long HOLE_C = 0x27ae41e4649b934cL;

  /** Returns the id of a run of {@code length} zeros, which is not stored. */
  public static ChunkId hole(long length) {
    if (length <= 0) {
      throw new IllegalArgumentException("the length of a hole must be positive");
    }
    return new ChunkId(HOLE_A, HOLE_B, HOLE_C, length);
  }

  public boolean isHole() {
    return a == HOLE_A && b == HOLE_B && c == HOLE_C && d > 0;
  }

  /** Returns the number of zeros in a hole. */
  public long holeLength() {
    return isHole() ? d : 0;
  }

  public static ChunkId of(byte[] content, int offset, int length) {
    MessageDigest digest = Sha256.newDigest();
    digest.update(content, offset, length);
    return readFrom(ByteBuffer.wrap(digest.digest()));
  }

  static ChunkId readFrom(ByteBuffer from) {
    return new ChunkId(from.getLong(), from.getLong(), from.getLong(), from.getLong());
  }

  /** Returns the id for the result of {@link #bytes}. */
  public static ChunkId of(byte[] bytes) {
    return readFrom(ByteBuffer.wrap(bytes));
  }

  public byte[] bytes() {
    return ByteBuffer.allocate(BYTES).putLong(a).putLong(b).putLong(c).putLong(d).array();
  }

  @Override
  public String toString() {
    return HexFormat.of().formatHex(bytes());
  }
}
