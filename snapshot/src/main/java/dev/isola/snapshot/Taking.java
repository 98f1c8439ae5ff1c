package dev.isola.snapshot;

import dev.isola.archive.Names;
import dev.isola.snapshot.chunk.ChunkId;
import dev.isola.snapshot.chunk.ChunkStore;
import dev.isola.snapshot.chunk.ChunkWriter;
import dev.isola.snapshot.chunk.DamagedException;
import dev.isola.snapshot.manifest.Entry;
import dev.isola.snapshot.manifest.Listing;
import dev.isola.snapshot.manifest.Manifests;
import dev.isola.snapshot.manifest.Snapshot;
import dev.isola.snapshot.step.Step;
import dev.isola.snapshot.step.Steps;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileAlreadyExistsException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A snapshot on its way. Not for several threads; closing it unfinished leaves nothing. */
public final class Taking implements AutoCloseable {
  private final ChunkWriter writer;
  private final Manifests manifests;
  private final Runnable leave;
  private final ChunkStore chunks;
  private final Steps steps;
  private final List<Held> rows = new ArrayList<>();
  private long bytes;
  private boolean closed;

  /** A file whose content is stored or on its way, and which is added to nothing yet. */
  public static final class Held {
    private final Entry file;
    private final ChunkWriter.@Nullable Content content;

    /**
     * @param content what is read of it now; null for content that an earlier snapshot has
     */
    private Held(Entry file, ChunkWriter.@Nullable Content content) {
      this.file = file;
      this.content = content;
    }

    public Entry.Kind kind() {
      return file.kind();
    }

    /** Returns the same file by another name. */
    public Held named(String other) {
      return new Held(file.named(other), content);
    }

    private long size() {
      return content == null ? file.size() : content.size();
    }

    private Entry entry() {
      return content == null
          ? file
          : new Entry(
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

  Taking(ChunkStore chunks, Manifests manifests, Steps steps, Runnable leave) {
    this.chunks = chunks;
    this.writer = chunks.writer();
    this.steps = steps;
    this.manifests = manifests;
    this.leave = leave;
  }

  /** Adds a file that this taking holds. */
  public void add(Held file) {
    rows.add(file);
    bytes += file.size();
  }

  /**
   * Adds what has no content, or content that an earlier snapshot has read. Of that nothing is read
   * again.
   *
   * @throws dev.isola.spi.error.Gone with {@code SNAPSHOT_DAMAGED} when the store does not have it
   */
  public void add(Entry entry) {
    add(hold(entry));
  }

  /**
   * Adds a file with its content. Long runs of zeros in it become holes.
   *
   * @param file its size and chunks are not looked at
   */
  public void add(Entry file, InputStream content) {
    add(hold(file, content));
  }

  /**
   * Holds what has no content, or content that an earlier snapshot has read. Of that nothing is
   * read again.
   *
   * @throws dev.isola.spi.error.Gone with {@code SNAPSHOT_DAMAGED} when the store does not have it
   */
  public Held hold(Entry entry) {
    for (ChunkId chunk : entry.chunks()) {
      if (!chunk.isHole() && !chunks.contains(chunk)) {
        throw SnapshotStore.failed(
            "the snapshot cannot be written",
            new DamagedException(
                "chunk " + chunk, "it is in no pack, and " + entry.path() + " needs it"));
      }
    }
    return new Held(entry, null);
  }

  /**
   * Stores the content of a file. Long runs of zeros in it become holes.
   *
   * @param file its size and chunks are not looked at
   */
  public Held hold(Entry file, InputStream content) {
    try {
      ChunkWriter.Content read = writer.begin();
      writer.add(read, content);
      return new Held(file, read);
    } catch (IOException e) {
      throw SnapshotStore.failed("the snapshot cannot be written", e);
    }
  }

  /**
   * Adds a file of which only some parts are there. What lies between them costs nothing.
   *
   * @param file its size says where it ends; its chunks are not looked at
   * @param extents the parts that are there, in order
   * @param data those parts, one behind the other
   * @throws dev.isola.spi.error.InvalidRequest with {@code BAD_ARCHIVE} when the parts overlap, are
   *     beyond the file's end, or longer than {@code data}
   */
  public void add(Entry file, List<Extent> extents, InputStream data) {
    try {
      ChunkWriter.Content read = writer.begin();
      for (Extent extent : extents) {
        if (extent.offset() < read.size() || extent.end() > file.size()) {
          throw Names.bad("the parts of a sparse file are not in order", file.path());
        }
        hole(read, extent.offset());
        writer.add(read, new Part(data, extent.length()));
        if (read.size() != extent.end()) {
          throw Names.bad("a sparse file was cut off", file.path());
        }
      }
      hole(read, file.size());
      add(new Held(file, read));
    } catch (IOException e) {
      throw SnapshotStore.failed("the snapshot cannot be written", e);
    }
  }

  private void hole(ChunkWriter.Content read, long to) {
    if (to > read.size()) {
      writer.addHole(read, to - read.size());
    }
  }

  /** What was counted while it was taken. */
  public record Counts(long files, long bytes, long newBytes, long storedBytes, String checksum) {}

  /** Makes the snapshot exist, durably. */
  public Snapshot finish(Function<Counts, Snapshot> describe) {
    try {
      writer.commit();
      steps.reached(Step.TAKE_COMMITTED);
      List<Entry> entries = rows.stream().map(Held::entry).toList();
      Listing list = Listing.of(entries);
      Snapshot snapshot =
          describe.apply(
              new Counts(
                  entries.size(), bytes, writer.newBytes(), writer.storedBytes(), list.checksum()));
      manifests.write(snapshot, list);
      return snapshot;
    } catch (FileAlreadyExistsException e) {
      throw Fault.of(
              ErrorCode.CONFLICT,
              "there is a snapshot of that id, and snapshots are never changed",
              "give this one an id of its own")
          .exception(e);
    } catch (IOException e) {
      throw SnapshotStore.failed("the snapshot cannot be written", e);
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
    try {
      writer.close();
    } catch (IOException e) {
      throw SnapshotStore.failed("what was begun cannot be removed", e);
    } finally {
      leave.run();
    }
  }
}
