package dev.isola.link;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * View of the fields in a payload. The constructor checks the structure; reading a missing field or
 * one of the wrong size throws a {@link ProtocolViolation}.
 */
final class WireFields {
  private static final int FIELD_HEADER = 5;

  private final byte[] payload;
  private final int from;

  private WireFields(byte[] payload, int from) {
    this.payload = payload;
    this.from = from;
  }

  static WireFields parse(byte[] payload) {
    return parse(payload, 0);
  }

  /**
   * Checks that every field lies within the payload.
   *
   * @throws ProtocolViolation when one does not
   */
  static WireFields parse(byte[] payload, int from) {
    int at = from;
    while (at < payload.length) {
      if (payload.length - at < FIELD_HEADER) {
        throw new ProtocolViolation("a field header is truncated");
      }
      int length = Wire.getInt(payload, at + 1);
      at += FIELD_HEADER;
      if (length < 0 || length > payload.length - at) {
        throw new ProtocolViolation("a field exceeds its payload");
      }
      at += length;
    }
    return new WireFields(payload, from);
  }

  boolean has(int tag) {
    return find(tag, from) >= 0;
  }

  long number(int tag) {
    int at = find(tag, from);
    if (at < 0) {
      throw new ProtocolViolation("field " + tag + " is missing");
    }
    return numberAt(at, tag);
  }

  long number(int tag, long fallback) {
    int at = find(tag, from);
    return at < 0 ? fallback : numberAt(at, tag);
  }

  OptionalLong optionalNumber(int tag) {
    int at = find(tag, from);
    return at < 0 ? OptionalLong.empty() : OptionalLong.of(numberAt(at, tag));
  }

  /** Returns a number that must not be negative. */
  long count(int tag) {
    return checkCount(number(tag), tag);
  }

  long count(int tag, long fallback) {
    return checkCount(number(tag, fallback), tag);
  }

  /** Returns a number from {@code least} to {@code most}. */
  int range(int tag, int min, int max) {
    long value = number(tag);
    if (value < min || value > max) {
      throw new ProtocolViolation("field " + tag + " is out of range: " + value);
    }
    return (int) value;
  }

  String text(int tag) {
    return new String(bytes(tag), UTF_8);
  }

  Optional<String> optionalText(int tag) {
    int at = find(tag, from);
    return at < 0 ? Optional.empty() : Optional.of(textAt(at));
  }

  List<String> texts(int tag) {
    List<String> found = new ArrayList<>();
    for (int at = find(tag, from); at >= 0; at = find(tag, after(at))) {
      found.add(textAt(at));
    }
    return found;
  }

  byte[] bytes(int tag) {
    int at = find(tag, from);
    if (at < 0) {
      throw new ProtocolViolation("field " + tag + " is missing");
    }
    return Arrays.copyOfRange(payload, at + FIELD_HEADER, after(at));
  }

  private static long checkCount(long value, int tag) {
    if (value < 0) {
      throw new ProtocolViolation("field " + tag + " is negative");
    }
    return value;
  }

  private long numberAt(int at, int tag) {
    if (after(at) - at != FIELD_HEADER + 8) {
      throw new ProtocolViolation("field " + tag + " is not a number");
    }
    return Wire.getLong(payload, at + FIELD_HEADER);
  }

  private String textAt(int at) {
    return new String(payload, at + FIELD_HEADER, after(at) - at - FIELD_HEADER, UTF_8);
  }

  private int after(int at) {
    return at + FIELD_HEADER + Wire.getInt(payload, at + 1);
  }

  private int find(int tag, int start) {
    for (int at = start; at < payload.length; at = after(at)) {
      if ((payload[at] & 0xff) == tag) {
        return at;
      }
    }
    return -1;
  }
}
