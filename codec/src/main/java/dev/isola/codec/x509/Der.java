package dev.isola.codec.x509;

import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.HexFormat;
import java.util.Locale;

/** Writes the values of ASN.1 that certificates consist of, in DER (X.690). */
final class Der {
  private static final int CONTEXT = 0x80;
  private static final int CONSTRUCTED = 0x20;

  /** The first year that a UTCTime, which has two digits for it, cannot express. */
  private static final int FIRST_GENERALIZED_YEAR = 2050;

  private Der() {}

  static byte[] sequence(byte[]... parts) {
    return value(0x30, parts);
  }

  static byte[] integer(BigInteger number) {
    return value(0x02, number.toByteArray());
  }

  static byte[] integer(long number) {
    return integer(BigInteger.valueOf(number));
  }

  /** Writes the value TRUE. FALSE is a default and left out. */
  static byte[] yes() {
    return value(0x01, new byte[] {(byte) 0xff});
  }

  static byte[] octets(byte[] content) {
    return value(0x04, content);
  }

  /**
   * Writes a bit string.
   *
   * @param unused how many of the last bits do not count
   */
  static byte[] bits(int unused, byte... content) {
    return value(0x03, new byte[] {(byte) unused}, content);
  }

  /** Writes an object identifier from its dotted form. */
  static byte[] oid(String dotted) {
    String[] parts = dotted.split("\\.", -1);
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    content.write((Integer.parseInt(parts[0]) * 40) + Integer.parseInt(parts[1]));
    for (int i = 2; i < parts.length; i++) {
      int number = Integer.parseInt(parts[i]);
      for (int shift = 28; shift > 0; shift -= 7) {
        if ((number >> shift) != 0) {
          content.write(0x80 | ((number >> shift) & 0x7f));
        }
      }
      content.write(number & 0x7f);
    }
    return value(0x06, content.toByteArray());
  }

  static byte[] time(Instant instant) {
    ZonedDateTime time = instant.atZone(ZoneOffset.UTC);
    boolean utc = time.getYear() < FIRST_GENERALIZED_YEAR;
    String text =
        DateTimeFormatter.ofPattern(utc ? "yyMMddHHmmss'Z'" : "yyyyMMddHHmmss'Z'", Locale.ROOT)
            .format(time);
    return value(utc ? 0x17 : 0x18, ascii(text));
  }

  static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  /** Writes a context-specific value whose content is a sequence of values. */
  static byte[] tagged(int number, byte[]... parts) {
    return value(CONTEXT | CONSTRUCTED | number, parts);
  }

  /** Writes a context-specific value whose content is plain bytes. */
  static byte[] taggedBytes(int number, byte[] content) {
    return value(CONTEXT | number, content);
  }

  private static byte[] value(int tag, byte[]... parts) {
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      content.writeBytes(part);
    }
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.write(tag);
    all.writeBytes(length(content.size()));
    all.writeBytes(content.toByteArray());
    return all.toByteArray();
  }

  private static byte[] length(int length) {
    if (length < 0x80) {
      return new byte[] {(byte) length};
    }
    String hex = Integer.toHexString(length);
    byte[] digits = HexFormat.of().parseHex(hex.length() % 2 == 0 ? hex : "0" + hex);
    byte[] all = new byte[digits.length + 1];
    all[0] = (byte) (0x80 | digits.length);
    System.arraycopy(digits, 0, all, 1, digits.length);
    return all;
  }
}
