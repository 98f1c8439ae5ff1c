package dev.isola.snapshot;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.isola.archive.Names;
import dev.isola.archive.TarReader;
import dev.isola.archive.TarStream;
import dev.isola.archive.TreeEntry;
import dev.isola.snapshot.manifest.Entry;
import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Between the archive a sandbox gives of its files and a snapshot of them. */
public final class Trees {
  private Trees() {}

  /**
   * Reads an archive into a snapshot.
   *
   * @throws dev.isola.spi.error.InvalidRequest with {@code BAD_ARCHIVE} when it is none, was cut
   *     off, or names something outside
   */
  public static void take(InputStream archive, Taking taking) {
    try {
      TarReader reader = new TarReader(archive);
      for (Optional<TreeEntry> next = reader.next(); next.isPresent(); next = reader.next()) {
        take(next.get(), reader.content(), taking);
      }
      if (!reader.ended()) {
        throw Names.bad("the archive was cut off", "it has no end");
      }
    } catch (IOException e) {
      throw SnapshotStore.failed("the files cannot be read", e);
    }
  }

  private static void take(TreeEntry file, InputStream content, Taking taking) {
    if (file.kind() == TreeEntry.Kind.SPECIAL) {
      return; // a device, pipe or socket is nothing without who holds its other end
    }
    Map<String, String> attributes = new HashMap<>();
    file.attributes().forEach((name, value) -> attributes.put(name, new String(value, ISO_8859_1)));
    Entry entry =
        new Entry(
            Names.clean(file.path()),
            Entry.Kind.valueOf(file.kind().name()),
            file.kind() == TreeEntry.Kind.HARD_LINK ? Names.clean(file.target()) : file.target(),
            file.mode(),
            file.uid(),
            file.gid(),
            file.size(),
            file.seconds(),
            file.nanos(),
            attributes,
            List.of());
    if (entry.kind() == Entry.Kind.FILE) {
      taking.add(entry, content);
    } else {
      taking.add(entry);
    }
  }

  /** Returns a snapshot as an archive, for a sandbox to unpack. Holds one chunk at a time. */
  public static InputStream archive(Opened opened) {
    return new TarStream(
        opened.entries().stream()
            .<TarStream.Item>map(entry -> new Item(tree(entry), entry, opened))
            .iterator());
  }

  private record Item(TreeEntry entry, Entry file, Opened opened) implements TarStream.Item {
    @Override
    public InputStream content() {
      return opened.content(file);
    }
  }

  private static TreeEntry tree(Entry entry) {
    Map<String, byte[]> attributes = new HashMap<>();
    entry.attributes().forEach((name, value) -> attributes.put(name, value.getBytes(ISO_8859_1)));
    return new TreeEntry(
        entry.path().isEmpty() ? "." : entry.path(),
        TreeEntry.Kind.valueOf(entry.kind().name()),
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
