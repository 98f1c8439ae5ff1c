package dev.isola.provider.docker;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

/** A tar archive in memory: the few kinds of entries that are needed here. */
final class TarArchive {
  private static final int BLOCK = 512;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final Set<String> names = new HashSet<>();

  void folder(String name, int mode, int owner) {
    entry(name + "/", mode, owner, '5', "", new byte[0]);
  }

  void link(String name, String target) {
    entry(name, 0777, 0, '2', target, new byte[0]);
  }

  void file(String name, String content) {
    entry(name, 0644, 0, '0', "", content.getBytes(UTF_8));
  }

  void program(String name, byte[] content) {
    entry(name, 0755, 0, '0', "", content);
  }

  /** Adds an entry; engines refuse a name that comes twice. */
  private void entry(String name, int mode, int owner, char type, String target, byte[] content) {
    if (!names.add(name)) {
      return;
    }
    byte[] header = new byte[BLOCK];
    put(header, 0, 100, name);
    octal(header, 100, 8, mode);
    octal(header, 108, 8, owner);
    octal(header, 116, 8, owner);
    octal(header, 124, 12, content.length);
    octal(header, 136, 12, 0);
    header[156] = (byte) type;
    put(header, 157, 100, target);
    put(header, 257, 8, "ustar\0" + "00");
    Arrays.fill(header, 148, 156, (byte) ' ');
    int sum = 0;
    for (byte b : header) {
      sum += b & 0xff;
    }
    octal(header, 148, 7, sum);
    out.writeBytes(header);
    out.writeBytes(content);
    out.writeBytes(new byte[(BLOCK - content.length % BLOCK) % BLOCK]);
  }

  private static void put(byte[] header, int at, int room, String text) {
    byte[] bytes = text.getBytes(UTF_8);
    if (bytes.length > room) {
      throw new IllegalArgumentException("too long for this archive: " + text);
    }
    System.arraycopy(bytes, 0, header, at, bytes.length);
  }

  private static void octal(byte[] header, int at, int room, long value) {
    put(header, at, room - 1, String.format("%0" + (room - 1) + "o", value));
  }

  byte[] end() {
    out.writeBytes(new byte[2 * BLOCK]);
    return out.toByteArray();
  }
}
