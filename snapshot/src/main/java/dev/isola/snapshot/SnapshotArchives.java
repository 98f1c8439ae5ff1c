package dev.isola.snapshot;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.isola.archive.ArchivePaths;
import dev.isola.codec.tar.TarEntry;
import dev.isola.codec.tar.TarReader;
import dev.isola.codec.tar.TarStream;
import dev.isola.snapshot.SnapshotWriter.StagedFile;
import dev.isola.snapshot.manifest.SnapshotEntry;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.file.TreeLimits;
import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Converts between the tar archive of a sandbox's files and a snapshot. */
public final class SnapshotArchives {
  /** The padding of the last archive block is skipped, up to this many bytes. */
  private static final long MAX_PADDING = 1 << 20;

  /** The most extended attributes of a file that the agent restores. */
  private static final int MAX_ATTRIBUTES = 64;

  private SnapshotArchives() {}

  /**
   * Adds the contents of an archive to a snapshot.
   *
   * @throws dev.isola.spi.error.InvalidRequest with {@code BAD_ARCHIVE} if the archive is
   *     malformed, truncated, or has a path outside its root
   * @throws dev.isola.spi.error.LimitExceeded if it exceeds the limits, or has a path that is too
   *     long
   */
  public static ArchiveContents importArchive(
      InputStream archive, SnapshotWriter writer, TreeLimits limits) {
    try (ArchiveContents contents = readArchive(archive, writer, KnownFiles.NONE, limits)) {
      writer.addAll(contents.entries());
      return contents;
    }
  }

  /** Files that an archive may reference instead of including them. */
  @FunctionalInterface
  public interface KnownFiles {
    KnownFiles NONE = _ -> Optional.empty();

    /** Returns the file with a mark. */
    Optional<StagedFile> find(String mark);
  }

  /**
   * The staged files of an archive.
   *
   * @param entries the files; the key of a regular file is its mark, which identifies the unchanged
   *     file in a later archive
   * @param bytes the number of content bytes that were read
   */
  public record ArchiveContents(StagedEntries entries, long bytes) implements AutoCloseable {
    @Override
    public void close() {
      entries.close();
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
   * Reads an archive and stores the content of its files. The caller closes the result.
   *
   * @param known the files that the archive may reference
   * @param limits the most bytes of all files, holes included, and the most entries
   * @throws UnknownMarkException if the archive references any other file
   * @throws dev.isola.spi.error.InvalidRequest with {@code BAD_ARCHIVE} if the archive is
   *     malformed, truncated, or has a path outside its root
   * @throws dev.isola.spi.error.LimitExceeded if it exceeds the limits, or has a path that is too
   *     long
   */
  public static ArchiveContents readArchive(
      InputStream archive, SnapshotWriter writer, KnownFiles known, TreeLimits limits) {
    StagedEntries entries = writer.newEntries();
    try {
      return new ArchiveContents(entries, read(archive, writer, known, limits, entries));
    } catch (IOException e) {
      entries.close();
      throw SnapshotStore.storeFailure("the files cannot be read", e);
    } catch (RuntimeException | Error e) {
      entries.close();
      throw e;
    }
  }

  private static long read(
      InputStream archive,
      SnapshotWriter writer,
      KnownFiles known,
      TreeLimits limits,
      StagedEntries entries)
      throws IOException {
    long bytes = 0;
    TarReader reader = TarReader.ofChanges(archive, ArchivePaths::badArchive);
    for (Optional<TarEntry> next = reader.next(); next.isPresent(); next = reader.next()) {
      TarEntry file = next.get();
      if (file.kind() == TarEntry.Kind.SPECIAL) {
        continue; // Devices, pipes and sockets cannot be restored.
      }
      if (entries.count() == limits.maxEntries()) {
        throw tooLarge("more than " + limits.maxEntries() + " files", file);
      }
      if (file.attributes().size() > MAX_ATTRIBUTES) {
        throw tooLarge("a file with more than " + MAX_ATTRIBUTES + " attributes", file);
      }
      if (pathLength(file) > ArchivePaths.MAX_PATH_LENGTH) {
        throw tooLong(file);
      }
      String mark = mark(reader, file);
      StagedFile staged;
      if (reader.record(Snapshotting.UNCHANGED).isPresent()) {
        staged = unchanged(file, known.find(mark));
      } else {
        if (file.size() > limits.maxBytes() - entries.bytes()) {
          throw tooLarge("more than " + limits.maxBytes() + " bytes, holes included", file);
        }
        staged = stage(file, reader, writer);
        bytes += read(file, reader);
      }
      entries.add(staged.kind() == SnapshotEntry.Kind.FILE ? mark : "", staged);
      if (entries.bytes() > limits.maxBytes()) {
        throw tooLarge("more than " + limits.maxBytes() + " bytes, holes included", file);
      }
    }
    if (!reader.ended()) {
      throw ArchivePaths.badArchive("the archive is truncated", "the end marker is missing");
    }
    if (archive.skip(MAX_PADDING) == MAX_PADDING) {
      throw ArchivePaths.badArchive("the archive has data after its end", "more than 1 MiB");
    }
    return bytes;
  }

  private static StagedFile stage(TarEntry file, TarReader reader, SnapshotWriter writer) {
    SnapshotEntry entry = entry(file);
    if (entry.kind() != SnapshotEntry.Kind.FILE) {
      return writer.stage(entry);
    }
    Optional<List<TarReader.Range>> ranges = reader.ranges();
    return ranges.isEmpty()
        ? writer.stage(entry, reader.content())
        : writer.stage(
            entry,
            ranges.get().stream().map(one -> new Extent(one.offset(), one.length())).toList(),
            reader.content());
  }

  /** Returns how many bytes of a file the archive contains. */
  private static long read(TarEntry file, TarReader reader) {
    return reader
        .ranges()
        .map(all -> all.stream().mapToLong(TarReader.Range::length).sum())
        .orElse(file.size());
  }

  private static SandboxException tooLarge(String what, TarEntry file) {
    return Fault.of(
            ErrorCode.RESOURCE_LIMIT,
            "the snapshot would have " + what + "; the last file is " + display(file),
            "remove or exclude large files")
        .exception();
  }

  /** Folders end with a slash. */
  private static int pathLength(TarEntry file) {
    String path = file.path();
    return path.endsWith("/") ? path.length() - 1 : path.length();
  }

  private static SandboxException tooLong(TarEntry file) {
    return Fault.of(
            ErrorCode.RESOURCE_LIMIT,
            "the snapshot would have a path of "
                + pathLength(file)
                + " bytes, and "
                + ArchivePaths.MAX_PATH_LENGTH
                + " are the most that can be restored: "
                + ArchivePaths.display(file.path()),
            "exclude or remove the folder, or move its files further up")
        .exception();
  }

  private static String display(TarEntry file) {
    return ArchivePaths.display(file.path()) + " of " + file.size() + " bytes";
  }

  private static String mark(TarReader reader, TarEntry file) {
    String mark = reader.record(Snapshotting.MARK).orElse("");
    if (mark.length() > Snapshotting.MAX_MARK_LENGTH) {
      throw ArchivePaths.badArchive("the mark of a file is too long", file.path());
    }
    return mark;
  }

  private static StagedFile unchanged(TarEntry file, Optional<StagedFile> before) {
    return before
        .orElseThrow(() -> new UnknownMarkException(file.path()))
        .withPath(ArchivePaths.normalize(file.path()));
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
    return archive(snapshotReader, snapshotReader.entriesWithContent());
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
        snapshotReader
            .entriesWithContent()
            .filter(entry -> isIn(entry.path(), folder))
            .map(entry -> entry.relativeTo(folder)));
  }

  /** Returns a snapshot without the given folders as an archive. */
  public static InputStream archiveExcluding(SnapshotReader snapshotReader, List<String> folders) {
    return archive(
        snapshotReader,
        snapshotReader
            .entriesWithContent()
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
