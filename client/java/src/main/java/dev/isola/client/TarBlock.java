package dev.isola.client;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** The 512 bytes that stand before each entry of a tar archive (POSIX ustar). */
final class TarBlock {
  static final int SIZE = 512;
  static final char FILE = '0';
  static final char HARD_LINK = '1';
  static final char LINK = '2';
  static final char FOLDER = '5';
  static final char PAX = 'x';
  static final char PAX_GLOBAL = 'g';
  static final int NAME = 100;

  private static final int MODE_AT = 100;
  private static final int SIZE_AT = 124;
  private static final int TIME_AT = 136;
  private static final int SUM_AT = 148;
  private static final int TYPE_AT = 156;
  private static final int TARGET_AT = 157;
  private static final int MAGIC_AT = 257;
  private static final int PREFIX_AT = 345;
  private static final int PREFIX = 155;

  /** What fits into eleven octal digits. */
  static final long LARGEST = 0_77777777777L;

  private final byte[] bytes;

  private TarBlock(byte[] bytes) {
    this.bytes = bytes;
  }

  /** Writes a header; what does not fit is cut, and stands in a pax header before it. */
  static byte[] write(byte[] name, char type, int mode, long size, long time, byte[] target) {
    TarBlock block = new TarBlock(new byte[SIZE]);
    block.put(name, 0, NAME);
    block.octal(mode, MODE_AT, 8);
    block.octal(0, 108, 8);
    block.octal(0, 116, 8);
    block.octal(Math.min(size, LARGEST), SIZE_AT, 12);
    block.octal(Math.clamp(time, 0, LARGEST), TIME_AT, 12);
    block.bytes[TYPE_AT] = (byte) type;
    block.put(target, TARGET_AT, NAME);
    block.put("ustar\00000".getBytes(StandardCharsets.US_ASCII), MAGIC_AT, 8);
    block.octal(block.sum(), SUM_AT, 7);
    block.bytes[SUM_AT + 7] = ' ';
    return block.bytes;
  }

  /** Reads a header; one of zeros is the end. */
  static TarBlock read(byte[] bytes) throws IOException {
    TarBlock block = new TarBlock(bytes);
    if (!block.isEnd() && block.number(SUM_AT, 8) != block.sum()) {
      throw new IOException("the archive is damaged");
    }
    return block;
  }

  boolean isEnd() {
    for (byte one : bytes) {
      if (one != 0) {
        return false;
      }
    }
    return true;
  }

  char type() {
    return bytes[TYPE_AT] == 0 ? FILE : (char) bytes[TYPE_AT];
  }

  String name() {
    String prefix = text(PREFIX_AT, PREFIX);
    return prefix.isEmpty() ? text(0, NAME) : prefix + "/" + text(0, NAME);
  }

  String target() {
    return text(TARGET_AT, NAME);
  }

  int mode() throws IOException {
    return (int) (number(MODE_AT, 8) & 0777);
  }

  long size() throws IOException {
    return number(SIZE_AT, 12);
  }

  long time() throws IOException {
    return number(TIME_AT, 12);
  }

  private void put(byte[] value, int at, int room) {
    System.arraycopy(value, 0, bytes, at, Math.min(value.length, room));
  }

  private void octal(long value, int at, int room) {
    for (int i = at + room - 2; i >= at; i--) {
      bytes[i] = (byte) ('0' + (value & 7));
      value >>= 3;
    }
  }

  /** The checksum counts itself as spaces. */
  private long sum() {
    long sum = 0;
    for (int i = 0; i < SIZE; i++) {
      sum += i >= SUM_AT && i < SUM_AT + 8 ? ' ' : bytes[i] & 0xff;
    }
    return sum;
  }

  private String text(int at, int room) {
    int end = at;
    while (end < at + room && bytes[end] != 0) {
      end++;
    }
    return new String(Arrays.copyOfRange(bytes, at, end), StandardCharsets.UTF_8);
  }

  private long number(int at, int room) throws IOException {
    String digits = text(at, room).strip();
    if (!digits.matches("[0-7]{0,20}")) {
      throw new IOException("the archive has a number that is none");
    }
    return digits.isEmpty() ? 0 : Long.parseLong(digits, 8);
  }
}
