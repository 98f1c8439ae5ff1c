package dev.isola.codec.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * The start line and the header fields of a message (RFC 9112), parsed strictly: whatever two
 * recipients could understand differently is malformed.
 *
 * @param startLine in ISO 8859-1
 */
public record HttpHead(String startLine, List<Field> fields) {

  /**
   * A header field.
   *
   * @param value without the white space around it
   */
  @SuppressWarnings("ArrayRecordComponent")
  public record Field(String name, byte[] value) {
    public static Field of(String name, String value) {
      return new Field(name, value.getBytes(ISO_8859_1));
    }

    /** Returns whether the field has this name, in whatever case. */
    public boolean is(String other) {
      return name.equalsIgnoreCase(other);
    }

    public String text() {
      return new String(value, ISO_8859_1);
    }

    /** Returns the name only: a value can be confidential. */
    @Override
    public String toString() {
      return name;
    }
  }

  public HttpHead {
    fields = List.copyOf(fields);
  }

  /** Parses lines that end in CR LF, without the empty line at the end. */
  static HttpHead parse(byte[] lines) throws MalformedHttpException {
    int end = lineEnd(lines, 0);
    String start = new String(lines, 0, end, ISO_8859_1);
    for (int i = 0; i < end; i++) {
      if (isControl(lines[i])) {
        throw new MalformedHttpException("the first line contains a control character");
      }
    }
    return new HttpHead(start, parseFields(Arrays.copyOfRange(lines, end + 2, lines.length)));
  }

  static List<Field> parseFields(byte[] lines) throws MalformedHttpException {
    List<Field> fields = new ArrayList<>();
    int at = 0;
    while (at < lines.length) {
      int end = lineEnd(lines, at);
      fields.add(field(lines, at, end));
      at = end + 2;
    }
    return fields;
  }

  private static Field field(byte[] lines, int from, int end) throws MalformedHttpException {
    int colon = from;
    while (colon < end && lines[colon] != ':') {
      if (!isTokenCharacter(lines[colon])) {
        throw new MalformedHttpException("a header name contains an invalid character");
      }
      colon++;
    }
    if (colon == end || colon == from) {
      throw new MalformedHttpException("a header has no name");
    }
    int first = colon + 1;
    int last = end;
    while (first < last && isBlank(lines[first])) {
      first++;
    }
    while (last > first && isBlank(lines[last - 1])) {
      last--;
    }
    byte[] value = Arrays.copyOfRange(lines, first, last);
    if (!isFieldValue(value)) {
      throw new MalformedHttpException("a header value contains a control character");
    }
    return new Field(new String(lines, from, colon - from, ISO_8859_1), value);
  }

  /** Returns the position of the next CR LF. */
  private static int lineEnd(byte[] lines, int from) throws MalformedHttpException {
    for (int i = from; i < lines.length; i++) {
      if (lines[i] == '\n' || lines[i] == '\r') {
        if (lines[i] == '\r' && i + 1 < lines.length && lines[i + 1] == '\n') {
          return i;
        }
        break;
      }
    }
    throw new MalformedHttpException("a line does not end in CR LF");
  }

  /** Returns whether the bytes can be the value of a header: no control characters but tabs. */
  public static boolean isFieldValue(byte[] value) {
    for (byte one : value) {
      if (isControl(one) && one != '\t') {
        return false;
      }
    }
    return true;
  }

  /** Returns whether a text is a token, such as a method or the name of a header. */
  public static boolean isToken(String text) {
    return !text.isEmpty() && text.chars().allMatch(c -> c < 0x80 && isTokenCharacter((byte) c));
  }

  private static boolean isTokenCharacter(byte c) {
    return (c >= '0' && c <= '9')
        || (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')
        || "!#$%&'*+-.^_`|~".indexOf(c) >= 0;
  }

  private static boolean isControl(byte c) {
    return (c >= 0 && c < ' ') || c == 0x7f;
  }

  private static boolean isBlank(byte c) {
    return c == ' ' || c == '\t';
  }

  /** Returns the values of all fields with this name. */
  public List<String> values(String name) {
    return fields.stream().filter(field -> field.is(name)).map(Field::text).toList();
  }

  /** Returns the elements of a field that is a comma-separated list, in lower case. */
  public List<String> elements(String name) {
    return values(name).stream()
        .flatMap(value -> Arrays.stream(value.split(",", -1)))
        .map(element -> element.strip().toLowerCase(Locale.ROOT))
        .filter(element -> !element.isEmpty())
        .toList();
  }

  /** Returns the head in its wire form, with the empty line at the end. */
  public byte[] toBytes() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(512);
    bytes.writeBytes((startLine + "\r\n").getBytes(ISO_8859_1));
    bytes.writeBytes(fieldBytes(fields));
    return bytes.toByteArray();
  }

  /** Returns fields in their wire form, with the empty line at the end. */
  public static byte[] fieldBytes(List<Field> fields) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(512);
    for (Field field : fields) {
      bytes.writeBytes((field.name() + ": ").getBytes(ISO_8859_1));
      bytes.writeBytes(field.value());
      bytes.writeBytes("\r\n".getBytes(ISO_8859_1));
    }
    bytes.writeBytes("\r\n".getBytes(ISO_8859_1));
    return bytes.toByteArray();
  }
}
