package dev.isola.snapshot.manifest;

import com.github.luben.zstd.ZstdInputStream;
import com.github.luben.zstd.ZstdOutputStream;
import dev.isola.snapshot.chunk.ChunkId;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.security.DigestInputStream;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;

/** The compressed list of a snapshot's entries. The rows are encoded one at a time. */
public final class CompressedFileList {
  private static final int LEVEL = 3;
  private static final int BUFFER = 64 << 10;

  private final byte[] compressed;
  private final String checksum;

  CompressedFileList(byte[] compressed, String checksum) {
    this.compressed = compressed;
    this.checksum = checksum;
  }

  byte[] compressed() {
    return compressed;
  }

  /** Returns the SHA-256 of the rows. */
  public String checksum() {
    return checksum;
  }

  public static CompressedFileList of(List<SnapshotEntry> entries) throws IOException {
    MessageDigest digest = ChunkId.sha256();
    ByteArrayOutputStream compressed = new ByteArrayOutputStream(entries.size() * 48 + 256);
    try (OutputStream out =
        new BufferedOutputStream(
            new DigestOutputStream(new ZstdOutputStream(compressed, LEVEL), digest), BUFFER)) {
      EntryCodec.encode(entries, out);
    }
    return new CompressedFileList(
        compressed.toByteArray(), HexFormat.of().formatHex(digest.digest()));
  }

  /**
   * Returns the entries.
   *
   * @throws IOException if the data is corrupt
   */
  List<SnapshotEntry> entries() throws IOException {
    MessageDigest digest = ChunkId.sha256();
    try (InputStream in =
        new BufferedInputStream(
            new DigestInputStream(
                new ZstdInputStream(new ByteArrayInputStream(compressed)), digest),
            BUFFER)) {
      List<SnapshotEntry> entries = EntryCodec.decode(in);
      if (!HexFormat.of().formatHex(digest.digest()).equals(checksum)) {
        throw new IOException("the checksum does not match");
      }
      return entries;
    }
  }
}
