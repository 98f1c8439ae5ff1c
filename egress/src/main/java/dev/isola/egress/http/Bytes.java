package dev.isola.egress.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;

/** Searches and replaces in byte arrays, so that confidential values do not become strings. */
final class Bytes {
  private static final byte[] HEX = "0123456789ABCDEF".getBytes(ISO_8859_1);

  private Bytes() {}

  static int indexOf(byte[] all, byte[] part, int from) {
    for (int i = from; i <= all.length - part.length; i++) {
      if (Arrays.equals(all, i, i + part.length, part, 0, part.length)) {
        return i;
      }
    }
    return -1;
  }

  /** Returns a copy with small letters instead of capital ones. */
  static byte[] lowerCase(byte[] text) {
    byte[] result = text.clone();
    for (int i = 0; i < result.length; i++) {
      if (result[i] >= 'A' && result[i] <= 'Z') {
        result[i] = (byte) (result[i] + ('a' - 'A'));
      }
    }
    return result;
  }

  /** Replaces every occurrence. Returns the same array if there is none. */
  static byte[] replace(byte[] all, byte[] from, byte[] to) {
    int found = indexOf(all, from, 0);
    if (found < 0) {
      return all;
    }
    ByteArrayOutputStream result = new ByteArrayOutputStream(all.length + to.length);
    int at = 0;
    while (found >= 0) {
      result.write(all, at, found - at);
      result.writeBytes(to);
      at = found + from.length;
      found = indexOf(all, from, at);
    }
    result.write(all, at, all.length - at);
    return result.toByteArray();
  }

  /** Encodes all but unreserved characters, so that the value fits anywhere in a URL. */
  static byte[] percentEncode(byte[] value) {
    ByteArrayOutputStream result = new ByteArrayOutputStream(value.length);
    for (byte c : value) {
      if (isUnreserved(c)) {
        result.write(c);
      } else {
        result.write('%');
        result.write(HEX[(c >> 4) & 0xf]);
        result.write(HEX[c & 0xf]);
      }
    }
    return result.toByteArray();
  }

  static boolean isUnreserved(int c) {
    return (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')
        || (c >= '0' && c <= '9')
        || c == '-'
        || c == '.'
        || c == '_'
        || c == '~';
  }

  /** Escapes a value as in a JSON string, as most writers of JSON do. */
  static byte[] jsonEscape(byte[] value) {
    ByteArrayOutputStream result = new ByteArrayOutputStream(value.length);
    for (byte c : value) {
      switch (c) {
        case '"', '\\' -> {
          result.write('\\');
          result.write(c);
        }
        case '\n' -> result.writeBytes("\\n".getBytes(ISO_8859_1));
        case '\r' -> result.writeBytes("\\r".getBytes(ISO_8859_1));
        case '\t' -> result.writeBytes("\\t".getBytes(ISO_8859_1));
        default -> result.write(c);
      }
    }
    return result.toByteArray();
  }
}
