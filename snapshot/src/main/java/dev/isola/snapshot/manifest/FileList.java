package dev.isola.snapshot.manifest;

import com.github.luben.zstd.ZstdOutputStream;
import dev.isola.codec.digest.Sha256;
import dev.isola.snapshot.chunk.ChunkId;
import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Optional;

/** The compressed list of a snapshot's entries, in a temporary file until it is closed. */
public final class FileList implements AutoCloseable {
  private static final int LEVEL = 3;
  private static final int BUFFER = 64 << 10;

  private final Path file;
  private final ChunkId id;
  private final String checksum;

  private FileList(Path file, ChunkId id, String checksum) {
    this.file = file;
    this.id = id;
    this.checksum = checksum;
  }

  /** Compresses the entries of a spool. */
  public static FileList of(EntrySpool entries, Path staging) throws IOException {
    Path file = Files.createTempFile(staging, "list", ".new");
    MessageDigest rows = Sha256.newDigest();
    MessageDigest whole = Sha256.newDigest();
    try {
      try (DataOutputStream out = output(file, rows, whole);
          EntrySpool.Rows all = entries.rows()) {
        out.writeInt(Math.toIntExact(entries.count()));
        for (Optional<EntrySpool.Row> row = all.next(); row.isPresent(); row = all.next()) {
          EntryCodec.encode(row.get().entry(), out);
        }
      }
      return new FileList(
          file, ChunkId.of(whole.digest()), HexFormat.of().formatHex(rows.digest()));
    } catch (IOException | RuntimeException e) {
      Files.deleteIfExists(file);
      throw e;
    }
  }

  private static DataOutputStream output(Path file, MessageDigest rows, MessageDigest whole)
      throws IOException {
    OutputStream disk = new DigestOutputStream(Files.newOutputStream(file), whole);
    OutputStream compressed = new ZstdOutputStream(new BufferedOutputStream(disk, BUFFER), LEVEL);
    return new DataOutputStream(
        new BufferedOutputStream(new DigestOutputStream(compressed, rows), BUFFER));
  }

  /** Returns the SHA-256 of the rows. */
  public String checksum() {
    return checksum;
  }

  /** Returns the SHA-256 of the compressed rows. */
  ChunkId id() {
    return id;
  }

  void copyTo(OutputStream out) throws IOException {
    Files.copy(file, out);
  }

  @Override
  public void close() throws IOException {
    Files.deleteIfExists(file);
  }
}
