package dev.isola.codec.tar;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Encodes the header of a tar entry: a ustar block, preceded by pax records for values that do not
 * fit into it.
 */
final class TarHeader {
  static final int BLOCK = 512;
  private static final String ATTRIBUTE = "SCHILY.xattr.";
  private static final int SHORT_NAME = 100;
  private static final long MAX_SIZE = 077777777777L;
  private static final long MAX_OWNER = 07777777L;

  private TarHeader() {}

  static byte[] of(TarEntry entry) {
    Map<String, String> records = new LinkedHashMap<>();
    String path = entry.kind() == TarEntry.Kind.FOLDER ? entry.path() + "/" : entry.path();
    if (!isShort(path)) {
      records.put("path", path);
    }
    if (!isShort(entry.target())) {
      records.put("linkpath", entry.target());
    }
    if (entry.size() > MAX_SIZE) {
      records.put("size", Long.toString(entry.size()));
    }
    if (entry.uid() > MAX_OWNER) {
      records.put("uid", Long.toString(entry.uid()));
    }
    if (entry.gid() > MAX_OWNER) {
      records.put("gid", Long.toString(entry.gid()));
    }
    if (entry.nanos() != 0 || entry.seconds() < 0 || entry.seconds() > MAX_SIZE) {
      records.put("mtime", time(entry));
    }
    new TreeMap<>(entry.attributes())
        .forEach((name, value) -> records.put(ATTRIBUTE + name, new String(value, ISO_8859_1)));

    ByteArrayOutputStream out = new ByteArrayOutputStream(3 * BLOCK);
    if (!records.isEmpty()) {
      ByteArrayOutputStream text = new ByteArrayOutputStream();
      records.forEach((key, value) -> text.writeBytes(record(key, value)));
      out.writeBytes(block("pax", 'x', "", 0644, 0, 0, text.size(), 0));
      out.writeBytes(text.toByteArray());
      out.writeBytes(new byte[padding(text.size())]);
    }
    out.writeBytes(
        block(
            isShort(path) ? path : "long",
            type(entry.kind()),
            isShort(entry.target()) ? entry.target() : "",
            entry.mode(),
            entry.uid() > MAX_OWNER ? 0 : entry.uid(),
            entry.gid() > MAX_OWNER ? 0 : entry.gid(),
            entry.size() > MAX_SIZE ? 0 : entry.size(),
            Math.clamp(entry.seconds(), 0, MAX_SIZE)));
    return out.toByteArray();
  }

  static int padding(long size) {
    return (int) ((BLOCK - size % BLOCK) % BLOCK);
  }

  /** The encoding of a name is defined only in a pax record, except for ASCII. */
  private static boolean isShort(String name) {
    return name.length() <= SHORT_NAME && name.chars().allMatch(c -> c >= ' ' && c < 127);
  }

  /** Returns seconds with a fraction. For times before 1970 both are negative. */
  private static String time(TarEntry entry) {
    long seconds = entry.seconds();
    int nanos = entry.nanos();
    String sign = "";
    if (seconds < 0) {
      sign = "-";
      seconds = nanos == 0 ? -seconds : -seconds - 1;
      nanos = nanos == 0 ? 0 : 1_000_000_000 - nanos;
    }
    return sign
        + seconds
        + (nanos == 0 ? "" : "." + Integer.toString(1_000_000_000 + nanos).substring(1));
  }

  private static char type(TarEntry.Kind kind) {
    return switch (kind) {
      case FILE -> '0';
      case HARD_LINK -> '1';
      case LINK -> '2';
      case FOLDER -> '5';
      case REMOVED -> 'W';
      case SPECIAL -> throw new IllegalArgumentException("devices and pipes are not archived");
    };
  }

  /** Returns {@code LENGTH KEY=VALUE\n}, where the length includes its own digits. */
  private static byte[] record(String key, String value) {
    int rest = key.length() + value.length() + 3;
    int length = rest + Integer.toString(rest).length();
    if (Integer.toString(length).length() > Integer.toString(rest).length()) {
      length = rest + Integer.toString(length).length();
    }
    return (length + " " + key + "=" + value + "\n").getBytes(ISO_8859_1);
  }

  private static byte[] block(
      String name, char type, String target, int mode, long uid, long gid, long size, long time) {
    byte[] block = new byte[BLOCK];
    put(block, 0, name);
    octal(block, 100, 8, mode);
    octal(block, 108, 8, uid);
    octal(block, 116, 8, gid);
    octal(block, 124, 12, size);
    octal(block, 136, 12, time);
    block[156] = (byte) type;
    put(block, 157, target);
    put(block, 257, "ustar");
    put(block, 263, "00");
    Arrays.fill(block, 148, 156, (byte) ' ');
    int sum = 0;
    for (byte one : block) {
      sum += one & 0xff;
    }
    octal(block, 148, 7, sum);
    return block;
  }

  private static void put(byte[] block, int offset, String text) {
    byte[] bytes = text.getBytes(ISO_8859_1);
    System.arraycopy(bytes, 0, block, offset, bytes.length);
  }

  /** Writes octal digits up to the last byte of the field, which is zero. */
  private static void octal(byte[] block, int offset, int width, long value) {
    long rest = value;
    for (int at = offset + width - 2; at >= offset; at--) {
      block[at] = (byte) ('0' + (rest & 7));
      rest >>>= 3;
    }
    block[offset + width - 1] = 0;
  }
}
