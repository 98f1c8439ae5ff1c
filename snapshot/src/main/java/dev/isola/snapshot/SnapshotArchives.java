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

/** Between the archive a sandbox gives of its files and a snapshot of them. */
public final class SnapshotArchives {
  /** What fills the last block of an archive up is passed over, to the end of the stream. */
  private static final long LONGEST_TAIL = 1 << 20;

  private SnapshotArchives() {}

  /**
   * Reads an archive into a snapshot.
   *
   * @throws dev.isola.spi.error.InvalidRequest with {@code BAD_ARCHIVE} when it is none, was cut
   *     off, or names something outside
   */
  public static void importArchive(InputStream archive, SnapshotWriter taking) {
    readArchive(archive, taking, Map.of()).entries().forEach(taking::add);
  }

  /**
   * The files of an archive, their content stored and they themselves added to nothing yet.
   *
   * @param marks of each of them, by which it is known again; empty text for none
   * @param bytes of content that were read
   */
  public record ArchiveContents(
      List<SnapshotWriter.StagedFile> entries, List<String> marks, long bytes) {
    /** Returns the regular files by their marks. */
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

  /** An archive says of a file that it did not change, and nobody knows what it was. */
  public static final class UnknownMarkException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    UnknownMarkException(String path) {
      super("what did not change is not known: " + ArchivePaths.display(path), null, false, false);
    }
  }

  /**
   * Reads an archive and stores the content of its files.
   *
   * @param before by mark, what the archive may refer to instead of having it
   * @throws UnknownMarkException when it refers to something else
   * @throws dev.isola.spi.error.InvalidRequest with {@code BAD_ARCHIVE} when it is none, was cut
   *     off, or names something outside
   */
  public static ArchiveContents readArchive(
      InputStream archive, SnapshotWriter taking, Map<String, SnapshotWriter.StagedFile> before) {
    List<SnapshotWriter.StagedFile> entries = new ArrayList<>();
    List<String> marks = new ArrayList<>();
    long bytes = 0;
    try {
      TarReader reader = TarReader.ofChanges(archive, ArchivePaths::badArchive);
      for (Optional<TarEntry> next = reader.next(); next.isPresent(); next = reader.next()) {
        TarEntry file = next.get();
        if (file.kind() == TarEntry.Kind.SPECIAL) {
          continue; // a device, pipe or socket is nothing without who holds its other end
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
                  ? taking.stage(entry, reader.content())
                  : taking.stage(entry));
          bytes += entry.size();
        }
        marks.add(entries.getLast().kind() == SnapshotEntry.Kind.FILE ? mark : "");
      }
      if (!reader.ended()) {
        throw ArchivePaths.badArchive("the archive was cut off", "it has no end");
      }
      if (archive.skip(LONGEST_TAIL) == LONGEST_TAIL) {
        throw ArchivePaths.badArchive(
            "the archive goes on after its end", "for a mebibyte and more");
      }
      return new ArchiveContents(entries, marks, bytes);
    } catch (IOException e) {
      throw SnapshotStore.storeFailure("the files cannot be read", e);
    }
  }

  private static String mark(TarReader reader, TarEntry file) {
    String mark = reader.record(Snapshotting.MARK).orElse("");
    if (mark.length() > Snapshotting.MAX_MARK_LENGTH) {
      throw ArchivePaths.badArchive("a file has a mark that is too long", file.path());
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

  /** Returns a snapshot as an archive, for a sandbox to unpack. Holds one chunk at a time. */
  public static InputStream archive(SnapshotReader opened) {
    return archive(opened, opened.entries().stream());
  }

  private static InputStream archive(SnapshotReader opened, Stream<SnapshotEntry> entries) {
    return new TarStream(
        entries.<TarStream.Item>map(entry -> new Item(tree(entry), entry, opened)).iterator());
  }

  /**
   * Returns what a snapshot has in one of its folders as an archive, with names from there on.
   *
   * @param folder a path in the snapshot
   */
  public static InputStream archiveFolder(SnapshotReader opened, String folder) {
    return archive(
        opened,
        opened.entries().stream()
            .filter(entry -> isIn(entry.path(), folder))
            .map(entry -> entry.relativeTo(folder)));
  }

  /** Returns what a snapshot has outside of some folders as an archive. */
  public static InputStream archiveExcluding(SnapshotReader opened, List<String> folders) {
    return archive(
        opened,
        opened.entries().stream()
            .filter(entry -> folders.stream().noneMatch(folder -> isIn(entry.path(), folder))));
  }

  /** Tells whether there is something in a folder of a snapshot. */
  public static boolean hasEntriesIn(SnapshotReader opened, String folder) {
    return opened.entries().stream().anyMatch(entry -> entry.path().startsWith(folder + "/"));
  }

  /** Tells whether an archive has nothing but {@code folder}, or the root when that is empty. */
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

  private record Item(TarEntry entry, SnapshotEntry file, SnapshotReader opened)
      implements TarStream.Item {
    @Override
    public InputStream content() {
      return opened.content(file);
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
