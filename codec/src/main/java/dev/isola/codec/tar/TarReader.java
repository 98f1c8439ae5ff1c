package dev.isola.codec.tar;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Reads a tar archive: ustar, pax, and GNU long names and numbers. Every length is checked before
 * anything is read, and unknown extensions are rejected. Each char of a name holds one byte,
 * because names in an archive need not be text in any encoding.
 */
public final class TarReader {
  private static final int BLOCK = 512;

  /** Maximum size of all extended headers of one entry, and of all global headers. */
  private static final int MAX_EXTENSION_BYTES = 1 << 20;

  /** Internal type of a deletion in an archive of changes; not a tar type. */
  private static final char REMOVED = '\uffff';

  /** Type of a sparse file in an archive of changes. Other readers of tar refuse it. */
  private static final char SPARSE = 'S';

  /**
   * The pax record of a sparse file: its size, then offset and length of each range that holds
   * data, separated by spaces. The content is the data of these ranges.
   */
  private static final String RANGES = "ISOLA.sparse";

  /** The most ranges of a sparse file. */
  private static final int MAX_RANGES = 8192;

  private static final String ATTRIBUTE = "SCHILY.xattr.";

  /** A range of a sparse file that holds data. */
  public record Range(long offset, long length) {
    long end() {
      return offset + length;
    }
  }

  /** Creates the exception for an archive that is rejected. */
  public interface ErrorFactory {
    /**
     * Returns the exception.
     *
     * @param what the problem
     * @param about a name or other raw bytes of the archive
     */
    RuntimeException create(String what, String about);
  }

  private final InputStream in;
  private final ErrorFactory errors;
  private final boolean changes;
  private final byte[] header = new byte[BLOCK];
  private final Map<String, String> global = new HashMap<>();
  private long globalBytes;
  private long remaining;
  private long padding;
  private boolean ended;
  private Map<String, String> records = Map.of();
  private Optional<List<Range>> ranges = Optional.empty();

  public TarReader(InputStream in, ErrorFactory errors) {
    this(in, errors, false);
  }

  private TarReader(InputStream in, ErrorFactory errors, boolean changes) {
    this.in = in;
    this.errors = errors;
    this.changes = changes;
  }

  /**
   * Returns a reader for an archive of changes, in which entries of type {@code W} are deletions,
   * and those of type {@code S} sparse files with a record {@code ISOLA.sparse}.
   */
  public static TarReader ofChanges(InputStream in, ErrorFactory errors) {
    return new TarReader(in, errors, true);
  }

  /** Returns the next entry and skips the unread content of the previous one. Empty at the end. */
  public Optional<TarEntry> next() throws IOException {
    Map<String, String> local = new HashMap<>(global);
    long localBytes = 0;
    while (true) {
      skipContent();
      if (!readHeader()) {
        return Optional.empty();
      }
      long size = number(124, 12, "size");
      char type = (char) (header[156] & 0xff);
      switch (type) {
        case 'L', 'K', 'x' -> {
          localBytes = bounded(localBytes, size);
          switch (type) {
            case 'L' -> local.put("path", longName(size));
            case 'K' -> local.put("linkpath", longName(size));
            default -> merge(records(size), local);
          }
        }
        case 'g' -> {
          globalBytes = bounded(globalBytes, size);
          merge(records(size), global);
          local.putAll(global);
        }
        case 'V' -> expect(size); // volume header
        default -> {
          records = local;
          return Optional.of(entry(type, size, local));
        }
      }
    }
  }

  /** Returns a pax record of the entry last returned by {@link #next}. */
  public Optional<String> record(String key) {
    return Optional.ofNullable(records.get(key));
  }

  /** Returns whether the end marker of the archive was read; a truncated archive has none. */
  public boolean ended() {
    return ended;
  }

  /**
   * Returns the ranges that hold data, in order, if the entry last returned by {@link #next} is a
   * sparse file. Its content is then the data of these ranges only.
   */
  public Optional<List<Range>> ranges() {
    return ranges;
  }

  /** Returns the content of the entry last returned by {@link #next}. */
  public InputStream content() {
    return new Content();
  }

  private final class Content extends InputStream {
    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] to, int offset, int length) throws IOException {
      if (remaining == 0 || length == 0) {
        return remaining == 0 ? -1 : 0;
      }
      int n = in.read(to, offset, (int) Math.min(length, remaining));
      if (n < 0) {
        throw cutOff();
      }
      remaining -= n;
      return n;
    }
  }

  private void skipContent() throws IOException {
    try {
      in.skipNBytes(remaining + padding);
    } catch (EOFException e) {
      throw cutOff();
    }
    remaining = 0;
    padding = 0;
  }

  private void expect(long size) {
    remaining = size;
    padding = (BLOCK - size % BLOCK) % BLOCK;
  }

  private boolean readHeader() throws IOException {
    int n = in.readNBytes(header, 0, BLOCK);
    if (n == 0) {
      return false;
    }
    if (n < BLOCK) {
      throw cutOff();
    }
    long unsigned = 0;
    long signed = 0;
    boolean zero = true;
    for (int i = 0; i < BLOCK; i++) {
      byte b = i >= 148 && i < 156 ? (byte) ' ' : header[i];
      zero &= header[i] == 0;
      unsigned += b & 0xff;
      signed += b;
    }
    if (zero) {
      ended = true;
      return false;
    }
    long sum = number(148, 8, "checksum");
    if (sum != unsigned && sum != signed) {
      throw errors.create("this is not a tar archive, or it is damaged", field(0, 100));
    }
    return true;
  }

  private TarEntry entry(char type, long headerSize, Map<String, String> extra) {
    String path = extra.getOrDefault("path", headerPath());
    TarEntry.Kind kind =
        switch (changes && type == 'W' ? REMOVED : changes && type == SPARSE ? '0' : type) {
          case '0', '\0', '7' ->
              path.endsWith("/") && type != '7' ? TarEntry.Kind.FOLDER : TarEntry.Kind.FILE;
          case '1' -> TarEntry.Kind.HARD_LINK;
          case '2' -> TarEntry.Kind.LINK;
          case '5' -> TarEntry.Kind.FOLDER;
          case '3', '4', '6' -> TarEntry.Kind.SPECIAL;
          case REMOVED -> TarEntry.Kind.REMOVED;
          default ->
              throw errors.create(
                  "the archive has an entry of an unknown type ('" + type + "')", path);
        };
    for (String key : extra.keySet()) {
      if (key.startsWith("GNU.sparse.")) {
        throw errors.create("the archive has a sparse file (create it without --sparse)", path);
      }
    }
    long size = kind == TarEntry.Kind.HARD_LINK ? 0 : numberOf("size", extra, headerSize, path);
    if (size > Long.MAX_VALUE - BLOCK) {
      throw errors.create("a size is out of range", path);
    }
    if (size > 0 && kind != TarEntry.Kind.FILE) {
      throw errors.create("the archive has content for an entry that is not a file", path);
    }
    expect(size);
    ranges = Optional.empty();
    if (changes && type == SPARSE) {
      size = sparse(extra.getOrDefault(RANGES, ""), size, path);
    }
    long[] time = time(extra, path);
    return new TarEntry(
        path,
        kind,
        extra.getOrDefault("linkpath", field(157, 100)),
        (int) number(100, 8, "mode") & 07777,
        numberOf("uid", extra, number(108, 8, "uid"), path),
        numberOf("gid", extra, number(116, 8, "gid"), path),
        size,
        time[0],
        (int) time[1],
        attributes(extra));
  }

  /** Reads the ranges of a sparse file, and returns its size. */
  private long sparse(String record, long dataSize, String path) {
    String[] numbers = record.split(" ", 2 * MAX_RANGES + 2);
    if (numbers.length % 2 == 0) {
      throw errors.create("the ranges of a sparse file are malformed", path);
    }
    long size = decimal(numbers[0], "size", path);
    List<Range> found = new ArrayList<>(numbers.length / 2);
    long end = 0;
    long data = 0;
    for (int i = 1; i < numbers.length; i += 2) {
      Range range =
          new Range(decimal(numbers[i], "offset", path), decimal(numbers[i + 1], "length", path));
      if (range.offset() < end || range.length() > size || range.offset() > size - range.length()) {
        throw errors.create("the ranges of a sparse file are not in order", path);
      }
      end = range.end();
      data += range.length();
      found.add(range);
    }
    if (data != dataSize) {
      throw errors.create("the ranges of a sparse file do not match its content", path);
    }
    ranges = Optional.of(found);
    return size;
  }

  private long numberOf(String key, Map<String, String> extra, long header, String path) {
    String text = extra.get(key);
    return text == null ? header : decimal(text, key, path);
  }

  /** An empty value deletes an earlier record. For an attribute it is a regular value. */
  private static void merge(Map<String, String> records, Map<String, String> into) {
    records.forEach(
        (key, value) -> {
          if (value.isEmpty() && !key.startsWith(ATTRIBUTE)) {
            into.remove(key);
          } else {
            into.put(key, value);
          }
        });
  }

  private String headerPath() {
    String name = field(0, 100);
    boolean ustar = field(257, 6).equals("ustar"); // The GNU format has spaces there and no prefix.
    String prefix = ustar ? field(345, 155) : "";
    return prefix.isEmpty() ? name : prefix + "/" + name;
  }

  private long[] time(Map<String, String> extra, String path) {
    String text = extra.get("mtime");
    if (text == null) {
      return new long[] {number(136, 12, "time"), 0};
    }
    int dot = text.indexOf('.');
    try {
      long seconds = Long.parseLong(dot < 0 ? text : text.substring(0, dot));
      String fraction = dot < 0 ? "" : text.substring(dot + 1);
      long nanos = Long.parseLong((fraction + "000000000").substring(0, 9));
      return new long[] {seconds, text.startsWith("-") || nanos < 0 ? 0 : nanos};
    } catch (NumberFormatException e) {
      throw errors.create("a time is not a number", path);
    }
  }

  private static Map<String, byte[]> attributes(Map<String, String> extra) {
    Map<String, byte[]> attributes = new LinkedHashMap<>();
    for (Map.Entry<String, String> record : extra.entrySet()) {
      if (record.getKey().startsWith(ATTRIBUTE)) {
        attributes.put(
            record.getKey().substring(ATTRIBUTE.length()),
            record.getValue().getBytes(StandardCharsets.ISO_8859_1));
      }
    }
    return attributes;
  }

  private String longName(long size) throws IOException {
    String name = extension(size);
    int zero = name.indexOf('\0');
    return zero < 0 ? name : name.substring(0, zero);
  }

  /** Reads pax records: {@code LENGTH KEY=VALUE\n}, where the length covers the whole record. */
  private Map<String, String> records(long size) throws IOException {
    String text = extension(size);
    Map<String, String> records = new LinkedHashMap<>();
    for (int at = 0; at < text.length(); ) {
      int space = text.indexOf(' ', at);
      int end = at;
      if (space > at && space - at < 8) {
        end += (int) decimal(text.substring(at, space), "header", text);
      }
      int equals = text.indexOf('=', at);
      if (end > text.length()
          || equals < space + 2
          || equals >= end
          || text.charAt(end - 1) != '\n') {
        throw errors.create("the archive has a malformed extended header", text.substring(at));
      }
      records.put(text.substring(space + 1, equals), text.substring(equals + 1, end - 1));
      at = end;
    }
    return records;
  }

  private long bounded(long before, long size) {
    if (size > MAX_EXTENSION_BYTES - before) {
      throw errors.create(
          "the archive has a header of " + (before + size) + " bytes", field(0, 100));
    }
    return before + size;
  }

  private String extension(long size) throws IOException {
    expect(size);
    byte[] bytes = content().readNBytes((int) size);
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }

  private long decimal(String text, String what, String path) {
    try {
      return digits(text, 10);
    } catch (NumberFormatException | StringIndexOutOfBoundsException e) {
      throw errors.create("a " + what + " is not a number", path);
    }
  }

  private String field(int offset, int length) {
    int end = offset;
    while (end < offset + length && header[end] != 0) {
      end++;
    }
    return new String(header, offset, end - offset, StandardCharsets.ISO_8859_1);
  }

  /** Reads octal digits, or a GNU binary number if it fits into a long. */
  private long number(int offset, int length, String what) {
    if ((header[offset] & 0x80) != 0) {
      long value = header[offset] & 0x7f;
      for (int i = offset + 1; i < offset + length; i++) {
        if (value >>> 54 != 0) {
          // Negative numbers (times before 1970) have the same prefix and are not supported either.
          if (what.equals("time")) {
            return 0;
          }
          throw errors.create("a " + what + " is out of range", field(0, 100));
        }
        value = (value << 8) | (header[i] & 0xff);
      }
      return value;
    }
    String text = field(offset, length).strip();
    try {
      return text.isEmpty() ? 0 : digits(text, 8);
    } catch (NumberFormatException e) {
      throw errors.create(
          "this is not a tar archive, or it is damaged (" + what + ")", field(0, 100));
    }
  }

  /** Like {@code Long.parseLong}, but does not accept a sign. */
  private static long digits(String text, int radix) {
    if (Character.digit(text.charAt(0), radix) < 0) {
      throw new NumberFormatException(text);
    }
    return Long.parseLong(text, radix);
  }

  private RuntimeException cutOff() {
    return errors.create("the archive was cut off", "it ends within an entry");
  }
}
