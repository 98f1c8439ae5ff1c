package dev.isola.snapshot.chunk;

import dev.isola.snapshot.blob.Blobs;
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

/** Writes one pack beside the store; it joins it when it is finished, or never. */
final class PackWriter implements AutoCloseable {
  private final Path file;
  private final MessageDigest digest = ChunkId.sha256();
  private final OutputStream out;
  private final Map<ChunkId, Place> rows = new LinkedHashMap<>();
  private byte[] squeezed = new byte[0];
  private long offset;

  PackWriter(Path staging) throws IOException {
    file = Files.createTempFile(staging, "pack", ".new");
    out =
        new DigestOutputStream(
            new BufferedOutputStream(Files.newOutputStream(file), 256 << 10), digest);
    write(Pack.HEAD, Pack.HEAD.length);
  }

  boolean contains(ChunkId id) {
    return rows.containsKey(id);
  }

  void add(ChunkId id, byte[] content, int from, int length) throws IOException {
    int bound = Squeezing.bound(length);
    if (squeezed.length < bound) {
      squeezed = new byte[bound];
    }
    int taken = Squeezing.squeeze(content, from, length, squeezed);
    addCompressed(id, squeezed, taken, length);
  }

  /** Adds a chunk that is compressed already. */
  void addCompressed(ChunkId id, byte[] compressed, int length, int size) throws IOException {
    rows.put(id, new Place("", offset, length, size));
    write(compressed, length);
  }

  private void write(byte[] bytes, int length) throws IOException {
    out.write(bytes, 0, length);
    offset += length;
  }

  long size() {
    return offset;
  }

  /** Makes it part of the store, durably, and returns where its chunks lie from now on. */
  Map<ChunkId, Place> finish(Blobs blobs) throws IOException {
    ByteBuffer table = ByteBuffer.allocate(rows.size() * Pack.ROW);
    rows.forEach(
        (id, place) ->
            table
                .put(id.bytes())
                .putLong(place.offset())
                .putInt(place.length())
                .putInt(place.size()));
    write(table.array(), table.capacity());
    ByteBuffer foot = ByteBuffer.allocate(Pack.FOOT);
    foot.putInt(rows.size()).put(ChunkId.of(table.array(), 0, table.capacity()).bytes());
    write(foot.put(Pack.END).array(), Pack.FOOT);
    out.close();
    String name = Pack.FOLDER + "/" + HexFormat.of().formatHex(digest.digest());
    blobs.put(name, file);
    Map<ChunkId, Place> places = new LinkedHashMap<>();
    rows.forEach(
        (id, place) ->
            places.put(id, new Place(name, place.offset(), place.length(), place.size())));
    return places;
  }

  /** Throws it away unless it was finished. */
  @Override
  public void close() throws IOException {
    out.close();
    Files.deleteIfExists(file);
  }
}
