package dev.isola.snapshot;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.isola.archive.ArchivePaths;
import dev.isola.codec.tar.TarEntry;
import dev.isola.codec.tar.TarReader;
import dev.isola.codec.tar.TarStream;
import dev.isola.snapshot.manifest.SnapshotEntry;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.file.TreeLimits;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Converts between the tar archive of a sandbox's files and a snapshot. */
public final class SnapshotArchives {
  /** The padding of the last archive block is skipped, up to this many bytes. */
  private static final long MAX_PADDING = 1 << 20;

  private SnapshotArchives() {}

  /**
   * Adds the contents of an archive to a snapshot.
   *
   * @throws dev.isola.spi.error.InvalidRequest with {@code BAD_ARCHIVE} if the archive is
   *     malformed, truncated, or has a path outside its root
   */
  public static void importArchive(InputStream archive, SnapshotWriter writer) {
    readArchive(archive, writer, Map.of()).entries().forEach(writer::add);
  }

  /**
   * The staged files of an archive.
   *
   * @param marks the mark of each file, which identifies an unchanged file in a later archive;
   *     empty text for none
   * @param bytes the number of content bytes that were read
   */
  public record ArchiveContents(
      List<SnapshotWriter.StagedFile> entries, List<String> marks, long bytes) {
    /** Returns the regular files by mark. */
    public Map<String, SnapshotWriter.StagedFile> byMark() {
      Map<String, SnapshotWriter.StagedFile> known = new HashMap<>();
      for (int i = 0; i < entries.size(); i++) {
        if (!marks.get(i).isEmpty()) {
          known.put(marks.get(i), entries.get(i));
        }
      }
      return known;
    }
  }

  /** Thrown if an archive marks a file as unchanged but its mark is unknown. */
  public static final class UnknownMarkException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    UnknownMarkException(String path) {
      super("unknown mark of an unchanged file: " + ArchivePaths.display(path), null, false, false);
    }
  }

  /**
   * Reads an archive and stores the content of its files.
   *
   * @param before the files, by mark, that the archive may reference instead of including
   * @throws UnknownMarkException if the archive references any other file
   * @throws dev.isola.spi.error.InvalidRequest with {@code BAD_ARCHIVE} if the archive is
   *     malformed, truncated, or has a path outside its root
   */
  public static ArchiveContents readArchive(
      InputStream archive, SnapshotWriter writer, Map<String, SnapshotWriter.StagedFile> before) {
    List<SnapshotWriter.StagedFile> entries = new ArrayList<>();
    List<String> marks = new ArrayList<>();
    long bytes = 0;
    try {
      TarReader reader = TarReader.ofChanges(archive, ArchivePaths::badArchive);
      for (Optional<TarEntry> next = reader.next(); next.isPresent(); next = reader.next()) {
        TarEntry file = next.get();
        if (file.kind() == TarEntry.Kind.SPECIAL) {
          continue; // Devices, pipes and sockets cannot be restored.
        }
        if (entries.size() == TreeLimits.DEFAULT.maxEntries()) {
          throw ArchivePaths.badArchive("the archive has too many files", file.path());
        }
        String mark = mark(reader, file);
        if (reader.record(Snapshotting.UNCHANGED).isPresent()) {
          entries.add(unchanged(file, before.get(mark)));
        } else {
          SnapshotEntry entry = entry(file);
          entries.add(
              entry.kind() == SnapshotEntry.Kind.FILE
                  ? writer.stage(entry, reader.content())
                  : writer.stage(entry));
          bytes += entry.size();
        }
        marks.add(entries.getLast().kind() == SnapshotEntry.Kind.FILE ? mark : "");
      }
      if (!reader.ended()) {
        throw ArchivePaths.badArchive("the archive is truncated", "the end marker is missing");
      }
      if (archive.skip(MAX_PADDING) == MAX_PADDING) {
        throw ArchivePaths.badArchive("the archive has data after its end", "more than 1 MiB");
      }
      return new ArchiveContents(entries, marks, bytes);
    } catch (IOException e) {
      throw SnapshotStore.storeFailure("the files cannot be read", e);
    }
  }

  private static String mark(TarReader reader, TarEntry file) {
    String mark = reader.record(Snapshotting.MARK).orElse("");
    if (mark.length() > Snapshotting.MAX_MARK_LENGTH) {
      throw ArchivePaths.badArchive("the mark of a file is too long", file.path());
    }
    return mark;
  }

  private static SnapshotWriter.StagedFile unchanged(
      TarEntry file, SnapshotWriter.@Nullable StagedFile before) {
    if (before == null) {
      throw new UnknownMarkException(file.path());
    }
    return before.withPath(ArchivePaths.normalize(file.path()));
  }

  private static SnapshotEntry entry(TarEntry file) {
    Map<String, String> attributes = new HashMap<>();
    file.attributes().forEach((name, value) -> attributes.put(name, new String(value, ISO_8859_1)));
    return new SnapshotEntry(
        ArchivePaths.normalize(file.path()),
        SnapshotEntry.Kind.valueOf(file.kind().name()),
        file.kind() == TarEntry.Kind.HARD_LINK
            ? ArchivePaths.normalize(file.target())
            : file.target(),
        file.mode(),
        file.uid(),
        file.gid(),
        file.size(),
        file.seconds(),
        file.nanos(),
        attributes,
        List.of());
  }

  /**
   * Returns a snapshot as an archive for a sandbox to unpack. Holds one chunk in memory at a time.
   */
  public static InputStream archive(SnapshotReader snapshotReader) {
    return archive(snapshotReader, snapshotReader.entries().stream());
  }

  private static InputStream archive(SnapshotReader snapshotReader, Stream<SnapshotEntry> entries) {
    return new TarStream(
        entries
            .<TarStream.Item>map(entry -> new Item(tree(entry), entry, snapshotReader))
            .iterator());
  }

  /**
   * Returns the contents of a folder of a snapshot as an archive, with paths relative to the
   * folder.
   *
   * @param folder a path in the snapshot
   */
  public static InputStream archiveFolder(SnapshotReader snapshotReader, String folder) {
    return archive(
        snapshotReader,
        snapshotReader.entries().stream()
            .filter(entry -> isIn(entry.path(), folder))
            .map(entry -> entry.relativeTo(folder)));
  }

  /** Returns a snapshot without the given folders as an archive. */
  public static InputStream archiveExcluding(SnapshotReader snapshotReader, List<String> folders) {
    return archive(
        snapshotReader,
        snapshotReader.entries().stream()
            .filter(entry -> folders.stream().noneMatch(folder -> isIn(entry.path(), folder))));
  }

  /** Tells whether a folder of a snapshot has any entries. */
  public static boolean hasEntriesIn(SnapshotReader snapshotReader, String folder) {
    return snapshotReader.entries().stream()
        .anyMatch(entry -> entry.path().startsWith(folder + "/"));
  }

  /**
   * Tells whether an archive contains nothing but {@code folder}, or nothing but the root if {@code
   * folder} is empty.
   */
  public static boolean isEmpty(InputStream archive, String folder) throws IOException {
    TarReader reader = TarReader.ofChanges(archive, ArchivePaths::badArchive);
    String root = ArchivePaths.normalize(folder);
    for (Optional<TarEntry> next = reader.next(); next.isPresent(); next = reader.next()) {
      if (!ArchivePaths.normalize(next.get().path()).equals(root)) {
        return false;
      }
    }
    return true;
  }

  private static boolean isIn(String path, String folder) {
    return path.equals(folder) || path.startsWith(folder + "/");
  }

  private record Item(TarEntry entry, SnapshotEntry file, SnapshotReader snapshotReader)
      implements TarStream.Item {
    @Override
    public InputStream content() {
      return snapshotReader.content(file);
    }
  }

  private static TarEntry tree(SnapshotEntry entry) {
    Map<String, byte[]> attributes = new HashMap<>();
    entry.attributes().forEach((name, value) -> attributes.put(name, value.getBytes(ISO_8859_1)));
    return new TarEntry(
        entry.path().isEmpty() ? "." : entry.path(),
        TarEntry.Kind.valueOf(entry.kind().name()),
        entry.target(),
        entry.mode(),
        entry.uid(),
        entry.gid(),
        entry.size(),
        entry.seconds(),
        entry.nanos(),
        attributes);
  }
}
