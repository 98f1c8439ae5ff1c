package dev.isola.snapshot;

import dev.isola.archive.ArchivePaths;
import dev.isola.snapshot.chunk.ChunkId;
import dev.isola.snapshot.chunk.ChunkStore;
import dev.isola.snapshot.chunk.ChunkWriter;
import dev.isola.snapshot.chunk.DamagedException;
import dev.isola.snapshot.failpoint.FailpointListener;
import dev.isola.snapshot.failpoint.SnapshotFailpoint;
import dev.isola.snapshot.manifest.EntrySpool;
import dev.isola.snapshot.manifest.FileList;
import dev.isola.snapshot.manifest.Manifests;
import dev.isola.snapshot.manifest.Snapshot;
import dev.isola.snapshot.manifest.SnapshotEntry;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes one snapshot. Not thread-safe. Closing the writer before {@link #finish} discards the
 * snapshot.
 */
public final class SnapshotWriter implements AutoCloseable {
  private final ChunkWriter writer;
  private final Manifests manifests;
  private final Runnable onClose;
  private final ChunkStore chunks;
  private final FailpointListener failpoints;
  private final Supplier<EntrySpool> spools;
  private final Path staging;
  private final StagedEntries rows;
  private boolean closed;

  /** A file whose content is stored or being stored, but that is not yet part of the snapshot. */
  public static final class StagedFile {
    private final SnapshotEntry file;
    private final ChunkWriter.@Nullable FileContent content;

    /**
     * @param content the content being stored; null if an earlier snapshot already has it
     */
    private StagedFile(SnapshotEntry file, ChunkWriter.@Nullable FileContent content) {
      this.file = file;
      this.content = content;
    }

    public SnapshotEntry.Kind kind() {
      return file.kind();
    }

    /** Returns the same file under another path. */
    public StagedFile withPath(String other) {
      return new StagedFile(file.withPath(other), content);
    }

    /** Returns an entry whose content the writer has stored. */
    static StagedFile of(SnapshotEntry stored) {
      return new StagedFile(stored, null);
    }

    long size() {
      return content == null ? file.size() : content.size();
    }

    /** Returns about how many bytes the entry takes in memory. */
    long sizeInMemory() {
      return file.sizeInMemory() + (content == null ? 0 : 96L * content.chunkCount());
    }

    boolean isKnown() {
      return content == null || content.isKnown();
    }

    SnapshotEntry entry() {
      return content == null
          ? file
          : new SnapshotEntry(
              file.path(),
              file.kind(),
              file.target(),
              file.mode(),
              file.uid(),
              file.gid(),
              content.size(),
              file.seconds(),
              file.nanos(),
              file.attributes(),
              content.chunks());
    }
  }

  /**
   * @param spools creates files for entries
   * @param staging a local folder for unfinished files
   */
  SnapshotWriter(
      ChunkStore chunks,
      Manifests manifests,
      Supplier<EntrySpool> spools,
      Path staging,
      FailpointListener failpoints,
      Runnable onClose) {
    this.chunks = chunks;
    this.writer = chunks.writer();
    this.failpoints = failpoints;
    this.manifests = manifests;
    this.spools = spools;
    this.staging = staging;
    this.onClose = onClose;
    this.rows = newEntries();
  }

  /** Returns an empty list of entries, which are not part of the snapshot. The caller closes it. */
  public StagedEntries newEntries() {
    return new StagedEntries(spools.get(), writer);
  }

  /** Adds a file that this writer has staged. */
  public void add(StagedFile file) {
    rows.add("", file);
  }

  /** Adds all entries of a list that this writer has created. */
  public void addAll(StagedEntries staged) {
    for (SnapshotEntry entry : staged.entries()) {
      add(StagedFile.of(entry));
    }
  }

  /**
   * Adds an entry without content, or a file whose content is already in the store and is not read
   * again.
   *
   * @throws dev.isola.spi.error.Gone with {@code SNAPSHOT_DAMAGED} if the store lacks the content
   */
  public void add(SnapshotEntry entry) {
    add(stage(entry));
  }

  /**
   * Adds a file with its content. Long runs of zeros become holes.
   *
   * @param file the entry; its size and chunks are ignored
   */
  public void add(SnapshotEntry file, InputStream content) {
    add(stage(file, content));
  }

  /**
   * Stages an entry without content, or a file whose content is already in the store and is not
   * read again.
   *
   * @throws dev.isola.spi.error.Gone with {@code SNAPSHOT_DAMAGED} if the store lacks the content
   */
  public StagedFile stage(SnapshotEntry entry) {
    for (ChunkId chunk : entry.chunks()) {
      if (!chunk.isHole() && !chunks.contains(chunk)) {
        throw SnapshotStore.storeFailure(
            "the snapshot cannot be written",
            new DamagedException(
                "chunk " + chunk, "no pack contains it, but " + entry.path() + " needs it"));
      }
    }
    return new StagedFile(entry, null);
  }

  /**
   * Stores the content of a file. Long runs of zeros become holes.
   *
   * @param file the entry; its size and chunks are ignored
   */
  public StagedFile stage(SnapshotEntry file, InputStream content) {
    try {
      ChunkWriter.FileContent read = writer.begin();
      writer.add(read, content);
      return new StagedFile(file, read);
    } catch (IOException e) {
      throw SnapshotStore.storeFailure("the snapshot cannot be written", e);
    }
  }

  /**
   * Adds a sparse file, as {@link #stage(SnapshotEntry, List, InputStream)} stages it.
   *
   * @throws dev.isola.spi.error.InvalidRequest with {@code BAD_ARCHIVE} if extents overlap, exceed
   *     the file or are longer than {@code data}
   */
  public void add(SnapshotEntry file, List<Extent> extents, InputStream data) {
    add(stage(file, extents, data));
  }

  /**
   * Stores the content of a sparse file. The ranges between the extents take no space.
   *
   * @param file the entry; its size is the length of the file, its chunks are ignored
   * @param extents the ranges that hold data, in order
   * @param data the data of all extents, concatenated
   * @throws dev.isola.spi.error.InvalidRequest with {@code BAD_ARCHIVE} if extents overlap, exceed
   *     the file or are longer than {@code data}
   */
  public StagedFile stage(SnapshotEntry file, List<Extent> extents, InputStream data) {
    try {
      ChunkWriter.FileContent read = writer.begin();
      for (Extent extent : extents) {
        if (extent.offset() < read.size() || extent.end() > file.size()) {
          throw ArchivePaths.badArchive(
              "the extents of a sparse file are not in order", file.path());
        }
        hole(read, extent.offset());
        writer.add(read, new LimitedInputStream(data, extent.length()));
        if (read.size() != extent.end()) {
          throw ArchivePaths.badArchive("the data of a sparse file is truncated", file.path());
        }
      }
      hole(read, file.size());
      return new StagedFile(file, read);
    } catch (IOException e) {
      throw SnapshotStore.storeFailure("the snapshot cannot be written", e);
    }
  }

  private void hole(ChunkWriter.FileContent read, long to) {
    if (to > read.size()) {
      writer.addHole(read, to - read.size());
    }
  }

  /** Totals of a snapshot. */
  public record Counts(long files, long bytes, long newBytes, long storedBytes, String checksum) {}

  /** Commits the snapshot durably. */
  public Snapshot finish(Function<Counts, Snapshot> describe) {
    try {
      writer.commit();
      failpoints.reached(SnapshotFailpoint.TAKE_COMMITTED);
      try (FileList list = FileList.of(rows.complete(), staging)) {
        Snapshot snapshot =
            describe.apply(
                new Counts(
                    rows.count(),
                    rows.bytes(),
                    writer.newBytes(),
                    writer.storedBytes(),
                    list.checksum()));
        manifests.write(snapshot, list);
        return snapshot;
      }
    } catch (FileAlreadyExistsException e) {
      throw Fault.of(
              ErrorCode.CONFLICT,
              "a snapshot with this id exists, and snapshots are immutable",
              "use another id")
          .exception(e);
    } catch (IOException e) {
      throw SnapshotStore.storeFailure("the snapshot cannot be written", e);
    } finally {
      close();
    }
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    try (rows) {
      writer.close();
    } catch (IOException e) {
      throw SnapshotStore.storeFailure("unfinished files cannot be removed", e);
    } finally {
      onClose.run();
    }
  }
}
