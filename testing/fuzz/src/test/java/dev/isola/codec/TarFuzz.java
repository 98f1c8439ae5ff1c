package dev.isola.codec;

import dev.isola.codec.tar.TarEntry;
import dev.isola.codec.tar.TarReader;
import dev.isola.codec.tar.TarStream;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * What is read from an archive is written as an archive from which the same is read. The first byte
 * says whether the archive is one of changes.
 */
public final class TarFuzz {
  private static final class RejectedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    RejectedException(String what) {
      super(what);
    }
  }

  @SuppressWarnings("ArrayRecordComponent") // its bytes are compared, not the record
  private record Item(TarEntry entry, byte[] bytes) implements TarStream.Item {
    @Override
    public InputStream content() {
      return new ByteArrayInputStream(bytes);
    }
  }

  private TarFuzz() {}

  public static void fuzzerTestOneInput(byte[] input) throws IOException {
    if (input.length == 0) {
      return;
    }
    boolean changes = (input[0] & 1) != 0;
    List<TarStream.Item> items = new ArrayList<>();
    try {
      read(new ByteArrayInputStream(input, 1, input.length - 1), changes, items);
    } catch (RejectedException e) {
      // Entries before the malformed one are written all the same.
    }
    List<TarStream.Item> again = new ArrayList<>();
    read(new TarStream(items.iterator()), true, again);
    if (items.size() != again.size()) {
      throw new AssertionError(items.size() + " entries became " + again.size());
    }
    for (int i = 0; i < items.size(); i++) {
      requireSame((Item) items.get(i), (Item) again.get(i));
    }
  }

  private static void read(InputStream in, boolean changes, List<TarStream.Item> items)
      throws IOException {
    TarReader reader =
        changes
            ? TarReader.ofChanges(in, (what, _) -> new RejectedException(what))
            : new TarReader(in, (what, _) -> new RejectedException(what));
    for (Optional<TarEntry> next = reader.next(); next.isPresent(); next = reader.next()) {
      TarEntry entry = next.get();
      boolean sparse = reader.ranges().isPresent();
      byte[] content = reader.content().readAllBytes();
      if (!sparse && entry.kind() == TarEntry.Kind.FILE && content.length != entry.size()) {
        throw new AssertionError("a file has " + content.length + " of " + entry.size() + " bytes");
      }
      if (entry.kind() != TarEntry.Kind.SPECIAL && !sparse) {
        items.add(new Item(entry, content));
      }
    }
  }

  private static void requireSame(Item expected, Item found) {
    TarEntry one = expected.entry();
    TarEntry other = found.entry();
    boolean same =
        path(one).equals(path(other))
            && one.kind() == other.kind()
            && one.target().equals(other.target())
            && one.mode() == other.mode()
            && one.uid() == other.uid()
            && one.gid() == other.gid()
            && one.size() == other.size()
            && one.seconds() == other.seconds()
            && one.attributes().keySet().equals(other.attributes().keySet())
            && one.attributes().keySet().stream()
                .allMatch(k -> Arrays.equals(one.attributes().get(k), other.attributes().get(k)))
            && Arrays.equals(expected.bytes(), found.bytes());
    if (!same) {
      throw new AssertionError("expected " + one + ", found " + other);
    }
  }

  /** A folder is written with a slash at its end. */
  private static String path(TarEntry entry) {
    return entry.kind() == TarEntry.Kind.FOLDER ? entry.path().replaceAll("/+$", "") : entry.path();
  }
}
