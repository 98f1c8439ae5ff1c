package dev.isola.snapshot.chunk;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** SHA-256 of a chunk's content, which is its name. */
public record ChunkId(long a, long b, long c, long d) {
  /** How many bytes it has. */
  public static final int BYTES = 32;

  public static ChunkId of(byte[] content, int offset, int length) {
    MessageDigest digest = sha256();
    digest.update(content, offset, length);
    return read(ByteBuffer.wrap(digest.digest()));
  }

  static ChunkId read(ByteBuffer from) {
    return new ChunkId(from.getLong(), from.getLong(), from.getLong(), from.getLong());
  }

  /** Reads what {@link #bytes} gave. */
  public static ChunkId of(byte[] bytes) {
    return read(ByteBuffer.wrap(bytes));
  }

  public byte[] bytes() {
    return ByteBuffer.allocate(BYTES).putLong(a).putLong(b).putLong(c).putLong(d).array();
  }

  /** Returns the digest that names are made with. */
  public static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  @Override
  public String toString() {
    return HexFormat.of().formatHex(bytes());
  }
}
