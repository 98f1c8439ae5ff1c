package dev.isola.host.image;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.zip.GZIPOutputStream;

/** Writes tar archives byte by byte, including malformed ones. */
final class TarBuilder {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private int mode = 0755;
  private long uid;
  private long gid;

  /** Sets the metadata of the following entries. */
  TarBuilder as(int mode, long uid, long gid) {
    this.mode = mode;
    this.uid = uid;
    this.gid = gid;
    return this;
  }

  TarBuilder folder(String name) {
    return entry(name, '5', "", 0, new byte[0]);
  }

  TarBuilder file(String name, String content) {
    byte[] bytes = content.getBytes(StandardCharsets.ISO_8859_1);
    return entry(name, '0', "", bytes.length, bytes);
  }

  TarBuilder link(String name, String target) {
    return entry(name, '2', target, 0, new byte[0]);
  }

  TarBuilder hardLink(String name, String target) {
    return entry(name, '1', target, 0, new byte[0]);
  }

  TarBuilder special(String name, char type) {
    return entry(name, type, "", 0, new byte[0]);
  }

  /** Adds pax records, each {@code key=value}, for the next entry. */
  TarBuilder pax(String... records) {
    StringBuilder text = new StringBuilder();
    for (String record : records) {
      int length = record.length() + 3;
      while ((length + " " + record + "\n").length() > length) {
        length++;
      }
      text.append(length).append(' ').append(record).append('\n');
    }
    byte[] bytes = text.toString().getBytes(StandardCharsets.ISO_8859_1);
    return entry("pax", 'x', "", bytes.length, bytes);
  }

  /** Adds an entry whose header may declare a different size than its content has. */
  TarBuilder entry(String name, char type, String target, long size, byte[] content) {
    byte[] header = new byte[512];
    put(header, 0, name);
    put(header, 100, String.format("%07o", mode));
    put(header, 108, String.format("%07o", uid));
    put(header, 116, String.format("%07o", gid));
    put(header, 124, String.format("%011o", size));
    put(header, 136, String.format("%011o", 1_700_000_000));
    header[156] = (byte) type;
    put(header, 157, target);
    put(header, 257, "ustar");
    put(header, 263, "00");
    put(header, 148, "        ");
    int sum = 0;
    for (byte b : header) {
      sum += b & 0xff;
    }
    put(header, 148, String.format("%06o", sum));
    header[154] = 0;
    out.writeBytes(header);
    out.writeBytes(content);
    out.writeBytes(new byte[(512 - content.length % 512) % 512]);
    return this;
  }

  TarBuilder raw(byte[] bytes) {
    out.writeBytes(bytes);
    return this;
  }

  private static void put(byte[] header, int offset, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
    System.arraycopy(bytes, 0, header, offset, Math.min(bytes.length, 100));
  }

  /** Returns the archive without the end marker. */
  byte[] unended() {
    return out.toByteArray();
  }

  byte[] bytes() {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.writeBytes(out.toByteArray());
    all.writeBytes(new byte[1024]);
    return all.toByteArray();
  }

  byte[] gzip() {
    return gzip(bytes());
  }

  static byte[] gzip(byte[] bytes) {
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(packed)) {
      gzip.write(bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return packed.toByteArray();
  }
}
