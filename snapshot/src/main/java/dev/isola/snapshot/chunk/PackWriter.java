package dev.isola.snapshot.chunk;

import dev.isola.codec.digest.Sha256;
import dev.isola.snapshot.blob.BlobStore;
import dev.isola.snapshot.failpoint.FailpointListener;
import dev.isola.snapshot.failpoint.SnapshotFailpoint;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Writes one pack to the staging folder. The pack becomes part of the store only when it is
 * finished.
 */
final class PackWriter implements AutoCloseable {
  private final FailpointListener failpoints;
  private final Path file;
  private final MessageDigest digest = Sha256.newDigest();
  private final OutputStream disk;
  private final OutputStream out;
  private final Map<ChunkId, ChunkLocation> rows = new LinkedHashMap<>();
  private long offset;

  PackWriter(Path staging, FailpointListener failpoints) throws IOException {
    this.failpoints = failpoints;
    file = Files.createTempFile(staging, "pack", ".new");
    disk = Files.newOutputStream(file);
    out = new DigestOutputStream(new BufferedOutputStream(disk, 256 << 10), digest);
    write(Pack.MAGIC, 0, Pack.MAGIC.length);
    failpoints.reached(SnapshotFailpoint.PACK_STAGED);
  }

  /**
   * Adds a compressed chunk.
   *
   * @param size the uncompressed size
   */
  void add(ChunkId id, byte[] compressed, int from, int length, int size) throws IOException {
    rows.put(id, new ChunkLocation("", offset, length, size));
    write(compressed, from, length);
  }

  private void write(byte[] bytes, int from, int length) throws IOException {
    out.write(bytes, from, length);
    offset += length;
  }

  long size() {
    return offset;
  }

  int count() {
    return rows.size();
  }

  /** Adds the pack to the store durably and returns the locations of its chunks. */
  Map<ChunkId, ChunkLocation> finish(BlobStore blobs) throws IOException {
    ByteBuffer table = ByteBuffer.allocate(rows.size() * Pack.ROW_SIZE);
    rows.forEach(
        (id, location) ->
            table
                .put(id.bytes())
                .putLong(location.offset())
                .putInt(location.length())
                .putInt(location.size()));
    write(table.array(), 0, table.capacity());
    ByteBuffer foot = ByteBuffer.allocate(Pack.FOOTER_SIZE);
    foot.putInt(rows.size()).put(ChunkId.of(table.array(), 0, table.capacity()).bytes());
    write(foot.put(Pack.END_MAGIC).array(), 0, Pack.FOOTER_SIZE);
    out.close();
    failpoints.reached(SnapshotFailpoint.PACK_WRITTEN);
    String name = Pack.FOLDER + "/" + HexFormat.of().formatHex(digest.digest());
    blobs.put(name, file);
    failpoints.reached(SnapshotFailpoint.PACK_KEPT);
    Map<ChunkId, ChunkLocation> locations = new LinkedHashMap<>();
    rows.forEach(
        (id, location) ->
            locations.put(
                id,
                new ChunkLocation(name, location.offset(), location.length(), location.size())));
    return locations;
  }

  /** Discards the pack unless it was finished. */
  @Override
  public void close() throws IOException {
    try {
      disk.close(); // Unflushed: on a full disk a flush would fail again.
    } finally {
      Files.deleteIfExists(file);
    }
  }
}
