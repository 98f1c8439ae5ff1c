package dev.isola.spi;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;

/** An immutable byte sequence, compared by content. */
public final class Bytes {
  private static final Bytes EMPTY = new Bytes(new byte[0]);

  private final byte[] content;

  private Bytes(byte[] content) {
    this.content = content;
  }

  public static Bytes of(byte[] content) {
    return content.length == 0 ? EMPTY : new Bytes(content.clone());
  }

  /** Returns the content of an array that nothing changes any more, without copying it. */
  public static Bytes wrap(byte[] content) {
    return content.length == 0 ? EMPTY : new Bytes(content);
  }

  public static Bytes utf8(String text) {
    return wrap(text.getBytes(StandardCharsets.UTF_8));
  }

  public int size() {
    return content.length;
  }

  /** Returns the byte at a position from 0. */
  public byte at(int position) {
    return content[position];
  }

  /** Returns a copy. */
  public byte[] toArray() {
    return content.clone();
  }

  /** Copies a part of the bytes. */
  public void copyTo(int from, byte[] target, int to, int count) {
    System.arraycopy(content, from, target, to, count);
  }

  /** Copies a part of the bytes into a buffer. */
  public void copyTo(int from, ByteArrayOutputStream target, int count) {
    target.write(content, from, count);
  }

  /** Writes the bytes without copying them first. The stream must not change the array. */
  public void writeTo(OutputStream out) throws IOException {
    out.write(content);
  }

  /** Returns a read-only view of a part of the bytes. */
  public ByteBuffer buffer(int from, int count) {
    return ByteBuffer.wrap(content, from, count).asReadOnlyBuffer();
  }

  /** Encodes the bytes as base64. */
  public String base64() {
    return Base64.getEncoder().encodeToString(content);
  }

  /** Decodes the bytes as UTF-8, replacing malformed sequences with U+FFFD. */
  public String utf8() {
    return new String(content, StandardCharsets.UTF_8);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Bytes that && Arrays.equals(content, that.content);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(content);
  }

  @Override
  public String toString() {
    return content.length + " bytes";
  }
}
