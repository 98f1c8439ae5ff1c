package dev.isola.spi;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

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

  public static Bytes utf8(String text) {
    return of(text.getBytes(StandardCharsets.UTF_8));
  }

  public int size() {
    return content.length;
  }

  public byte[] toArray() {
    return content.clone();
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
