package dev.isola.provider.memory.file;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;

/**
 * One block of a tar archive that says what follows.
 *
 * @param type tar's own letter: {@code 0} file, {@code 2} link, {@code 5} folder, {@code x} more
 *     about the next one
 */
record TarHeader(String name, int mode, long size, Instant modifiedAt, char type, String linkName) {
  static final int BLOCK = 512;

  private static final int NAME = 100;
  private static final int LINK = 157;
  private static final int PREFIX = 345;

  /** Returns the blocks of this header, with an extended one before it where a name is long. */
  byte[] encode() {
    ByteArrayOutputStream blocks = new ByteArrayOutputStream();
    String more = extended("path", name) + extended("linkpath", linkName);
    if (!more.isEmpty()) {
      byte[] records = more.getBytes(StandardCharsets.UTF_8);
      TarHeader extension = new TarHeader("pax", 0644, records.length, modifiedAt, 'x', "");
      blocks.writeBytes(extension.block());
      blocks.writeBytes(Arrays.copyOf(records, padded(records.length)));
    }
    blocks.writeBytes(block());
    return blocks.toByteArray();
  }

  private static String extended(String key, String value) {
    byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
    if (bytes.length <= NAME && bytes.length == value.length()) {
      return "";
    }
    String rest = " " + key + "=" + value + "\n";
    int length = rest.getBytes(StandardCharsets.UTF_8).length;
    int total = length + Integer.toString(length).length();
    total = length + Integer.toString(total).length();
    return total + rest;
  }

  static int padded(long size) {
    return Math.toIntExact((size + BLOCK - 1) / BLOCK * BLOCK);
  }

  private byte[] block() {
    byte[] block = new byte[BLOCK];
    text(block, 0, NAME, name);
    octal(block, 100, 8, mode);
    octal(block, 108, 8, 0);
    octal(block, 116, 8, 0);
    octal(block, 124, 12, size);
    octal(block, 136, 12, Math.max(0, modifiedAt.getEpochSecond()));
    block[156] = (byte) type;
    text(block, LINK, NAME, linkName);
    text(block, 257, 8, "ustar\u000000");
    octal(block, 148, 7, checksum(block));
    block[155] = ' ';
    return block;
  }

  private static void text(byte[] block, int at, int length, String value) {
    byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
    System.arraycopy(bytes, 0, block, at, Math.min(bytes.length, length));
  }

  private static void octal(byte[] block, int at, int length, long value) {
    String digits = Long.toOctalString(value);
    text(block, at, length - 1, "0".repeat(Math.max(0, length - 1 - digits.length())) + digits);
  }

  private static long checksum(byte[] block) {
    long sum = 0;
    for (int i = 0; i < BLOCK; i++) {
      sum += i >= 148 && i < 156 ? ' ' : block[i] & 0xff;
    }
    return sum;
  }

  static TarHeader decode(byte[] block) {
    if (number(block, 148, 8) != checksum(block)) {
      throw FileFaults.badArchive("a checksum is wrong");
    }
    String name = text(block, 0, NAME);
    String prefix =
        new String(block, 257, 5, StandardCharsets.US_ASCII).equals("ustar") && block[262] == 0
            ? text(block, PREFIX, 155)
            : "";
    return new TarHeader(
        prefix.isEmpty() ? name : prefix + "/" + name,
        (int) number(block, 100, 8) & 07777,
        number(block, 124, 12),
        Instant.ofEpochSecond(number(block, 136, 12)),
        block[156] == 0 ? '0' : (char) block[156],
        text(block, LINK, NAME));
  }

  private static String text(byte[] block, int at, int length) {
    int end = at;
    while (end < at + length && block[end] != 0) {
      end++;
    }
    return new String(block, at, end - at, StandardCharsets.UTF_8);
  }

  private static long number(byte[] block, int at, int length) {
    if ((block[at] & 0x80) != 0) {
      return binary(block, at, length);
    }
    String digits = text(block, at, length).strip();
    try {
      return digits.isEmpty() ? 0 : Long.parseLong(digits, 8);
    } catch (NumberFormatException e) {
      throw FileFaults.badArchive("a number is not one");
    }
  }

  private static long binary(byte[] block, int at, int length) {
    long value = block[at] & 0x3f;
    for (int i = at + 1; i < at + length; i++) {
      if (value >>> 54 != 0) {
        throw FileFaults.badArchive("a number is too large");
      }
      value = (value << 8) | (block[i] & 0xff);
    }
    return value;
  }

  TarHeader named(String other, String otherLink) {
    return new TarHeader(other, mode, size, modifiedAt, type, otherLink);
  }
}
