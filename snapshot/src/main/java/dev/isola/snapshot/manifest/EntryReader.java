package dev.isola.snapshot.manifest;

import com.github.luben.zstd.ZstdInputStream;
import dev.isola.codec.digest.Sha256;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Optional;

/** Reads the entries of a manifest one at a time. Not thread-safe. */
public final class EntryReader implements AutoCloseable {
  private static final int BUFFER = 64 << 10;

  /** The largest zstd window, as a power of two; a crafted frame could demand 128 MiB. */
  private static final int MAX_WINDOW = 23;

  private final MessageDigest digest = Sha256.newDigest();
  private final DataInputStream in;
  private final String checksum;
  private int left;
  private boolean ended;

  EntryReader(InputStream compressed, String checksum) throws IOException {
    this.checksum = checksum;
    ZstdInputStream rows = new ZstdInputStream(compressed);
    rows.setLongMax(MAX_WINDOW);
    this.in =
        new DataInputStream(new BufferedInputStream(new DigestInputStream(rows, digest), BUFFER));
    this.left = in.readInt();
  }

  /**
   * Returns the next entry, or empty after the last one.
   *
   * @throws IOException if the data is corrupt; if only the checksum is wrong, after the last entry
   */
  public Optional<SnapshotEntry> next() throws IOException {
    if (left > 0) {
      left--;
      return Optional.of(EntryCodec.decode(in));
    }
    if (!ended) {
      ended = true;
      if (left < 0 || in.read() >= 0) {
        throw new IOException("the number of entries is wrong");
      }
      if (!HexFormat.of().formatHex(digest.digest()).equals(checksum)) {
        throw new IOException("the checksum does not match");
      }
    }
    return Optional.empty();
  }

  @Override
  public void close() throws IOException {
    in.close();
  }
}
