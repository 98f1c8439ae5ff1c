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

/** The list of a snapshot's files, squeezed. The rows themselves are never in memory together. */
public final class CompressedFileList {
  private static final int LEVEL = 3;
  private static final int BUFFER = 64 << 10;

  private final byte[] squeezed;
  private final String checksum;

  CompressedFileList(byte[] squeezed, String checksum) {
    this.squeezed = squeezed;
    this.checksum = checksum;
  }

  byte[] compressed() {
    return squeezed;
  }

  /** Returns SHA-256 over the rows. */
  public String checksum() {
    return checksum;
  }

  public static CompressedFileList of(List<SnapshotEntry> entries) throws IOException {
    MessageDigest digest = ChunkId.sha256();
    ByteArrayOutputStream squeezed = new ByteArrayOutputStream(entries.size() * 48 + 256);
    try (OutputStream out =
        new BufferedOutputStream(
            new DigestOutputStream(new ZstdOutputStream(squeezed, LEVEL), digest), BUFFER)) {
      EntryCodec.encode(entries, out);
    }
    return new CompressedFileList(
        squeezed.toByteArray(), HexFormat.of().formatHex(digest.digest()));
  }

  /**
   * Returns the files.
   *
   * @throws IOException when this is not what was written
   */
  List<SnapshotEntry> entries() throws IOException {
    MessageDigest digest = ChunkId.sha256();
    try (InputStream in =
        new BufferedInputStream(
            new DigestInputStream(new ZstdInputStream(new ByteArrayInputStream(squeezed)), digest),
            BUFFER)) {
      List<SnapshotEntry> entries = EntryCodec.decode(in);
      if (!HexFormat.of().formatHex(digest.digest()).equals(checksum)) {
        throw new IOException("the checksum is another one");
      }
      return entries;
    }
  }
}
