package dev.isola.conformance.check;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.conformance.CheckFailed;
import dev.isola.spi.Bytes;
import dev.isola.spi.capability.Snapshotting;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * A minimal tar implementation for checks: writes ustar, including hostile entries, and strictly
 * reads ustar, pax and GNU long names.
 */
final class TestArchive {
  static final char FILE = '0';
  static final char HARD_LINK = '1';
  static final char LINK = '2';
  static final char DEVICE = '3';
  static final char FOLDER = '5';
  static final char FIFO = '6';

  private static final int BLOCK = 512;
  private static final int CHECKSUM = 148;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  /** An entry that was read. */
  record Entry(
      String name,
      char type,
      int mode,
      Bytes content,
      String target,
      Optional<String> mark,
      Optional<String> unchanged) {
    /** Returns the name without a leading {@code ./} and a trailing slash. */
    String plainName() {
      return name.replaceFirst("^(\\./)+", "").replaceFirst("/+$", "");
    }
  }

  TestArchive file(String name, String content) {
    return file(name, 0644, content.getBytes(UTF_8));
  }

  TestArchive file(String name, int mode, byte[] content) {
    return entry(name, FILE, mode, content.length, "").raw(content);
  }

  TestArchive folder(String name, int mode) {
    return entry(name + "/", FOLDER, mode, 0, "");
  }

  TestArchive link(String name, String target) {
    return entry(name, LINK, 0777, 0, target);
  }

  TestArchive hardLink(String name, String target) {
    return entry(name, HARD_LINK, 0644, 0, target);
  }

  /** Adds a header only; the caller adds the content, which need not match {@code size}. */
  TestArchive entry(String name, char type, int mode, long size, String target) {
    byte[] header = new byte[BLOCK];
    byte[] bytes = name.getBytes(UTF_8);
    if (bytes.length <= 100) {
      put(header, 0, bytes);
    } else {
      int slash = name.indexOf('/', name.length() - 101);
      put(header, 345, name.substring(0, slash).getBytes(UTF_8));
      put(header, 0, name.substring(slash + 1).getBytes(UTF_8));
    }
    octal(header, 100, 7, mode);
    octal(header, 108, 7, 0);
    octal(header, 116, 7, 0);
    octal(header, 124, 11, size);
    octal(header, 136, 11, 1_700_000_000L);
    header[156] = (byte) type;
    put(header, 157, target.getBytes(UTF_8));
    put(header, 257, "ustar\00000".getBytes(UTF_8));
    put(header, CHECKSUM, checksum(header).getBytes(UTF_8));
    out.writeBytes(header);
    return this;
  }

  /** Adds content, padded to a full block. */
  TestArchive raw(byte[] content) {
    out.writeBytes(content);
    out.writeBytes(new byte[(BLOCK - content.length % BLOCK) % BLOCK]);
    return this;
  }

  /** Returns the archive with its end marker. */
  byte[] end() {
    out.writeBytes(new byte[2 * BLOCK]);
    return out.toByteArray();
  }

  /** Returns the archive so far, without an end marker. */
  byte[] cut() {
    return out.toByteArray();
  }

  /** Reads a whole archive; a malformed archive fails the check. */
  static List<Entry> read(byte[] archive) {
    List<Entry> entries = new ArrayList<>();
    Optional<String> longName = Optional.empty();
    Optional<String> longTarget = Optional.empty();
    Optional<String> mark = Optional.empty();
    Optional<String> unchanged = Optional.empty();
    int at = 0;
    while (true) {
      byte[] header = block(archive, at, BLOCK);
      if (isZero(header)) {
        return entries;
      }
      if (!text(header, CHECKSUM, 8).strip().equals(checksum(header).replace("\0", "").strip())) {
        throw new CheckFailed("the archive has a wrong checksum at byte " + at);
      }
      int size = Math.toIntExact(number(header, 124, 12));
      byte[] content = block(archive, at + BLOCK, size);
      at += BLOCK + (size + BLOCK - 1) / BLOCK * BLOCK;
      char type = header[156] == 0 ? FILE : (char) header[156];
      switch (type) {
        case 'x' -> {
          longName = pax(content, "path");
          longTarget = pax(content, "linkpath");
          mark = pax(content, Snapshotting.MARK);
          unchanged = pax(content, Snapshotting.UNCHANGED);
        }
        case 'g' -> {}
        case 'L' -> longName = Optional.of(text(content, 0, content.length));
        case 'K' -> longTarget = Optional.of(text(content, 0, content.length));
        default -> {
          entries.add(
              new Entry(
                  longName.orElseGet(() -> name(header)),
                  type,
                  (int) number(header, 100, 8),
                  Bytes.of(content),
                  longTarget.orElseGet(() -> text(header, 157, 100)),
                  mark,
                  unchanged));
          longName = Optional.empty();
          longTarget = Optional.empty();
          mark = Optional.empty();
          unchanged = Optional.empty();
        }
      }
    }
  }

  private static String name(byte[] header) {
    String prefix = text(header, 257, 5).equals("ustar") ? text(header, 345, 155) : "";
    return (prefix.isEmpty() ? "" : prefix + "/") + text(header, 0, 100);
  }

  private static byte[] block(byte[] archive, int from, int size) {
    if (from + size > archive.length) {
      throw new CheckFailed("the archive ends in the middle, after " + archive.length + " bytes");
    }
    return Arrays.copyOfRange(archive, from, from + size);
  }

  private static Optional<String> pax(byte[] content, String key) {
    Optional<String> found = Optional.empty();
    int at = 0;
    while (at < content.length) {
      int space = at;
      while (content[space] != ' ') {
        space++;
      }
      int length = Integer.parseInt(new String(content, at, space - at, UTF_8));
      String record = new String(content, space + 1, at + length - space - 2, UTF_8);
      if (record.startsWith(key + "=")) {
        found = Optional.of(record.substring(key.length() + 1));
      }
      at += length;
    }
    return found;
  }

  private static boolean isZero(byte[] bytes) {
    return Arrays.equals(bytes, new byte[bytes.length]);
  }

  private static String text(byte[] from, int at, int length) {
    int end = at;
    while (end < at + length && from[end] != 0) {
      end++;
    }
    return new String(from, at, end - at, UTF_8);
  }

  private static long number(byte[] header, int at, int length) {
    if (header[at] < 0) {
      long value = header[at] & 0x7f;
      for (int i = at + 1; i < at + length; i++) {
        value = value << 8 | (header[i] & 0xff);
      }
      return value;
    }
    String digits = text(header, at, length).strip();
    return digits.isEmpty() ? 0 : Long.parseLong(digits, 8);
  }

  private static void octal(byte[] header, int at, int digits, long value) {
    put(header, at, String.format(Locale.ROOT, "%0" + digits + "o", value).getBytes(UTF_8));
  }

  private static void put(byte[] header, int at, byte[] bytes) {
    System.arraycopy(bytes, 0, header, at, bytes.length);
  }

  private static String checksum(byte[] header) {
    int sum = 0;
    for (int i = 0; i < BLOCK; i++) {
      sum += i >= CHECKSUM && i < CHECKSUM + 8 ? ' ' : header[i] & 0xff;
    }
    return String.format(Locale.ROOT, "%06o\0 ", sum);
  }
}
