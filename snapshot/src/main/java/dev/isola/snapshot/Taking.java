package dev.isola.snapshot;

import dev.isola.snapshot.chunk.ChunkWriter;
import dev.isola.snapshot.manifest.Entry;
import dev.isola.snapshot.manifest.Manifests;
import dev.isola.snapshot.manifest.Snapshot;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** A snapshot on its way. Not for several threads; closing it unfinished leaves nothing. */
public final class Taking implements AutoCloseable {
  private final ChunkWriter writer;
  private final Manifests manifests;
  private final Runnable leave;
  private final List<Entry> entries = new ArrayList<>();
  private long bytes;
  private boolean closed;

  Taking(ChunkWriter writer, Manifests manifests, Runnable leave) {
    this.writer = writer;
    this.manifests = manifests;
    this.leave = leave;
  }

  /** Adds what has no content, or content that an earlier snapshot has read. */
  public void add(Entry entry) {
    entries.add(entry);
    bytes += entry.size();
  }

  /**
   * Adds a file with its content.
   *
   * @param file its size and chunks are not looked at
   */
  public void add(Entry file, InputStream content) {
    add(stored(file, content));
  }

  /** Stores the content of a file and returns the file with it; whether it is added is open. */
  public Entry stored(Entry file, InputStream content) {
    try {
      ChunkWriter.Content read = writer.add(content);
      return new Entry(
          file.path(),
          file.kind(),
          file.target(),
          file.mode(),
          file.uid(),
          file.gid(),
          read.size(),
          file.seconds(),
          file.nanos(),
          file.attributes(),
          read.chunks());
    } catch (IOException e) {
      throw SnapshotStore.failed("the snapshot cannot be written", e);
    }
  }

  /** What was counted while it was taken. */
  public record Counts(long files, long bytes, long newBytes, long storedBytes, String checksum) {}

  /** Makes the snapshot exist, durably. */
  public Snapshot finish(Function<Counts, Snapshot> describe) {
    try {
      writer.commit();
      Snapshot snapshot =
          describe.apply(
              new Counts(
                  entries.size(),
                  bytes,
                  writer.newBytes(),
                  writer.storedBytes(),
                  Manifests.checksum(entries)));
      manifests.write(snapshot, entries);
      return snapshot;
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
