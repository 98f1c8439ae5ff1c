package dev.isola.snapshot.chunk;

import dev.isola.codec.digest.Sha256;
import dev.isola.snapshot.blob.BlobStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A file of chunks: a magic number, the compressed chunks, one row per chunk, and a footer with the
 * number of rows and their hash. The SHA-256 of the whole file is its name.
 */
final class Pack {
  static final String FOLDER = "packs";
  static final byte[] MAGIC = "ISOLAPK1".getBytes(StandardCharsets.US_ASCII);
  static final byte[] END_MAGIC = "ISOLAPKE".getBytes(StandardCharsets.US_ASCII);

  /** An id, an offset, a length and a size. */
  static final int ROW_SIZE = ChunkId.BYTES + Long.BYTES + 2 * Integer.BYTES;

  static final int FOOTER_SIZE = Integer.BYTES + ChunkId.BYTES + END_MAGIC.length;

  /** More rows than a pack of normal size could have with chunks of one byte. */
  private static final int MAX_ROWS = 8 << 20;

  private Pack() {}

  /**
   * Reads the rows of a pack.
   *
   * @throws DamagedException if the pack is corrupt
   */
  static Map<ChunkId, ChunkLocation> rows(BlobStore blobs, String name) throws IOException {
    long size = blobs.size(name);
    if (size < MAGIC.length + FOOTER_SIZE) {
      throw new DamagedException(name, "the file has only " + size + " bytes");
    }
    if (!Arrays.equals(blobs.read(name, 0, MAGIC.length), MAGIC)) {
      throw new DamagedException(name, "the magic number at the start is wrong");
    }
    ByteBuffer foot = ByteBuffer.wrap(blobs.read(name, size - FOOTER_SIZE, FOOTER_SIZE));
    int count = foot.getInt();
    ChunkId wanted = ChunkId.readFrom(foot);
    byte[] end = new byte[END_MAGIC.length];
    foot.get(end);
    if (!Arrays.equals(end, END_MAGIC) || count < 0 || count > MAX_ROWS) {
      throw new DamagedException(name, "the magic number at the end is wrong");
    }
    long begin = size - FOOTER_SIZE - (long) count * ROW_SIZE;
    if (begin < MAGIC.length) {
      throw new DamagedException(name, "the file is too short for its rows");
    }
    byte[] rows = blobs.read(name, begin, count * ROW_SIZE);
    if (!ChunkId.of(rows, 0, rows.length).equals(wanted)) {
      throw new DamagedException(name, "the hash of its rows does not match");
    }
    Map<ChunkId, ChunkLocation> locations = new LinkedHashMap<>();
    ByteBuffer row = ByteBuffer.wrap(rows);
    while (row.hasRemaining()) {
      ChunkId id = ChunkId.readFrom(row);
      ChunkLocation location = new ChunkLocation(name, row.getLong(), row.getInt(), row.getInt());
      if (location.offset() < MAGIC.length || location.length() < 0 || location.end() > begin) {
        throw new DamagedException(name, "a row refers to an offset outside the file");
      }
      locations.put(id, location);
    }
    return locations;
  }

  /** Reads a whole pack and tells whether its content matches its name. */
  static boolean isIntact(BlobStore blobs, String name) throws IOException {
    MessageDigest digest = Sha256.newDigest();
    long size = blobs.size(name);
    for (long at = 0; at < size; ) {
      int length = (int) Math.min(4 << 20, size - at);
      digest.update(blobs.read(name, at, length));
      at += length;
    }
    return name.equals(FOLDER + "/" + HexFormat.of().formatHex(digest.digest()));
  }
}
