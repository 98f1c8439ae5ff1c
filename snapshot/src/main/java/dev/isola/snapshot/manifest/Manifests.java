package dev.isola.snapshot.manifest;

import dev.isola.codec.digest.Sha256;
import dev.isola.snapshot.blob.BlobStore;
import dev.isola.snapshot.chunk.ChunkId;
import dev.isola.snapshot.chunk.DamagedException;
import dev.isola.snapshot.failpoint.FailpointListener;
import dev.isola.snapshot.failpoint.SnapshotFailpoint;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.time.DateTimeException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The manifests of a store, one file per snapshot: a magic number, the metadata, and the list of
 * entries. A snapshot exists as soon as its manifest does.
 */
public final class Manifests {
  private static final String FOLDER = "snapshots";
  private static final byte[] MARK = "ISOLASN1".getBytes(StandardCharsets.US_ASCII);
  private static final int FIXED = MARK.length + Integer.BYTES;
  private static final int SEAL = 2 * ChunkId.BYTES;
  private static final int MAX_HEADER = 16 << 20;

  /** The most compressed bytes of a file list. */
  private static final long MAX_LIST = 4L << 30;

  private final BlobStore blobs;
  private final Path staging;
  private final FailpointListener failpoints;

  public Manifests(BlobStore blobs, Path staging, FailpointListener failpoints) {
    this.blobs = blobs;
    this.staging = staging;
    this.failpoints = failpoints;
  }

  /**
   * Creates a snapshot.
   *
   * @throws java.nio.file.FileAlreadyExistsException if the id exists
   */
  public void write(Snapshot snapshot, FileList list) throws IOException {
    byte[] head = SnapshotDocument.write(snapshot);
    byte[] seal = seal(head, list.id());
    Path temporary = Files.createTempFile(staging, "snapshot", ".new");
    try {
      try (OutputStream out = Files.newOutputStream(temporary)) {
        out.write(MARK);
        out.write(ByteBuffer.allocate(Integer.BYTES).putInt(head.length).array());
        out.write(head);
        out.write(seal);
        list.copyTo(out);
      }
      failpoints.reached(SnapshotFailpoint.LIST_WRITTEN);
      blobs.create(name(snapshot.id()), temporary);
      failpoints.reached(SnapshotFailpoint.LIST_KEPT);
    } finally {
      Files.deleteIfExists(temporary);
    }
  }

  /** Returns the hash of the list, and the hash of that together with everything before it. */
  private static byte[] seal(byte[] head, ChunkId list) {
    ByteBuffer all = ByteBuffer.allocate(head.length + ChunkId.BYTES);
    all.put(head).put(list.bytes());
    return ByteBuffer.allocate(SEAL)
        .put(list.bytes())
        .put(ChunkId.of(all.array(), 0, all.capacity()).bytes())
        .array();
  }

  private static String name(String id) {
    return FOLDER + "/" + id;
  }

  public List<String> ids() throws IOException {
    return blobs.list(FOLDER).stream().map(name -> name.substring(FOLDER.length() + 1)).toList();
  }

  /**
   * @throws DamagedException if the manifest is corrupt
   */
  public Optional<Snapshot> find(String id) throws IOException {
    return head(id).map(Head::snapshot);
  }

  private record Head(Snapshot snapshot, ChunkId list, long offset, long size) {}

  private Optional<Head> head(String id) throws IOException {
    String name = name(id);
    long size;
    try {
      size = blobs.size(name);
    } catch (NoSuchFileException none) {
      return Optional.empty();
    }
    if (size < FIXED + SEAL) {
      throw new DamagedException(name, "the file has only " + size + " bytes");
    }
    ByteBuffer begin = ByteBuffer.wrap(blobs.read(name, 0, FIXED));
    byte[] mark = new byte[MARK.length];
    begin.get(mark);
    int length = begin.getInt();
    if (!Arrays.equals(mark, MARK)
        || length < 0
        || length > MAX_HEADER
        || size < (long) FIXED + length + SEAL) {
      throw new DamagedException(name, "the magic number at the start is wrong");
    }
    byte[] bytes = blobs.read(name, FIXED, length + SEAL);
    byte[] head = Arrays.copyOf(bytes, length);
    ChunkId list = ChunkId.of(Arrays.copyOfRange(bytes, length, length + ChunkId.BYTES));
    if (!Arrays.equals(seal(head, list), Arrays.copyOfRange(bytes, length, bytes.length))) {
      throw new DamagedException(name, "the hash of its metadata does not match");
    }
    try {
      Snapshot snapshot = SnapshotDocument.read(head);
      return Optional.of(new Head(snapshot, list, FIXED + (long) bytes.length, size));
    } catch (IOException | DateTimeException | IllegalArgumentException e) {
      throw new DamagedException(name, "its metadata cannot be parsed");
    }
  }

  /** The file list of a snapshot, which was verified. It can be read any number of times. */
  public static final class StoredList implements AutoCloseable {
    private final Spool compressed;
    private final String checksum;

    private StoredList(Spool compressed, String checksum) {
      this.compressed = compressed;
      this.checksum = checksum;
    }

    /** Returns a reader of all entries. */
    public EntryReader read() throws IOException {
      return new EntryReader(compressed.read(), checksum);
    }

    @Override
    public void close() {
      compressed.close();
    }
  }

  /**
   * Returns the entries of a snapshot.
   *
   * @throws DamagedException if the manifest is corrupt
   * @throws NoSuchFileException if the snapshot does not exist
   */
  public StoredList entries(String id) throws IOException {
    Head head = head(id).orElseThrow(() -> new NoSuchFileException(name(id)));
    MessageDigest digest = Sha256.newDigest();
    Spool rows;
    try (InputStream in =
        new DigestInputStream(
            new BlobInputStream(blobs, name(id), head.offset(), head.size()), digest)) {
      rows = Spool.of(in, staging, MAX_LIST);
    }
    if (!ChunkId.of(digest.digest()).equals(head.list())) {
      rows.close();
      throw new DamagedException(name(id), "the hash of its file list does not match");
    }
    return new StoredList(rows, head.snapshot().checksum());
  }

  /** Returns the defect of an entry list, which {@link EntryReader} has found. */
  public static DamagedException damaged(String id, IOException e) {
    return e instanceof DamagedException known
        ? known
        : new DamagedException(name(id), "its file list cannot be parsed: " + e.getMessage());
  }

  public void remove(String id) throws IOException {
    blobs.remove(name(id));
    failpoints.reached(SnapshotFailpoint.LIST_REMOVED);
  }

  /** Tells whether the text is a valid snapshot id. Other text could escape the store's folder. */
  public static boolean isId(String text) {
    return text.matches("[a-z0-9]{1,40}");
  }
}
