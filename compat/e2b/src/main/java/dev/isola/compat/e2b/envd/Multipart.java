package dev.isola.compat.e2b.envd;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the parts of a multipart form (RFC 7578) as they arrive, without buffering their content.
 * File names are not normalized and may contain slashes.
 */
final class Multipart {
  private static final int BUFFER = 64 * 1024;
  private static final int MAX_HEADERS = 16 * 1024;
  private static final Pattern BOUNDARY =
      Pattern.compile(";\\s*boundary=(?:\"([^\"]{1,200})\"|([^\\s;\"]{1,200}))");
  private static final Pattern NAME = Pattern.compile(";\\s*name=\"([^\"]*)\"");
  private static final Pattern FILE = Pattern.compile(";\\s*filename=\"((?:[^\"\\\\]|\\\\.)*+)\"");
  private static final Pattern ENCODED_FILE =
      Pattern.compile(";\\s*filename\\*=utf-8''([^;\\s]*)", Pattern.CASE_INSENSITIVE);

  private final InputStream in;
  private final byte[] delimiter;
  private final byte[] buffer = new byte[BUFFER];
  private int from;
  private int to;
  private boolean inPart;

  /**
   * A part of a form.
   *
   * @param content must be read before the next part is requested; the rest is skipped
   */
  record Part(String name, Optional<String> file, InputStream content) {}

  Multipart(InputStream in, String contentType) {
    Matcher boundary = BOUNDARY.matcher(contentType);
    if (!boundary.find()) {
      throw ConnectMessage.invalid("multipart/form-data has no boundary");
    }
    String text = boundary.group(1) == null ? boundary.group(2) : boundary.group(1);
    this.in = in;
    delimiter = ("\r\n--" + text).getBytes(StandardCharsets.ISO_8859_1);
    buffer[0] = '\r'; // The first delimiter is not preceded by a line break.
    buffer[1] = '\n';
    to = 2;
    inPart = true;
  }

  /** Returns the next part; empty at the end of the form. */
  Optional<Part> next() throws IOException {
    byte[] rest = new byte[BUFFER];
    while (content(rest, 0, rest.length) >= 0) {
      // Skip unread content.
    }
    from += delimiter.length;
    String after = line();
    if (after.startsWith("--")) {
      while (in.read(rest) >= 0) {
        // Ignore the epilogue.
      }
      return Optional.empty();
    }
    String name = "";
    Optional<String> file = Optional.empty();
    int size = 0;
    for (String line = line(); !line.isEmpty(); line = line()) {
      size += line.length();
      if (size > MAX_HEADERS) {
        throw ConnectMessage.invalid("the headers of a form part are too large");
      }
      if (line.regionMatches(true, 0, "content-disposition:", 0, 20)) {
        name = first(NAME, line).orElse("");
        file = file(line);
      }
    }
    inPart = true;
    return Optional.of(new Part(name, file, new Content()));
  }

  private static Optional<String> file(String line) {
    Optional<String> encoded = first(ENCODED_FILE, line);
    if (encoded.isPresent()) {
      try {
        return encoded.map(
            text -> URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8));
      } catch (IllegalArgumentException e) {
        throw ConnectMessage.invalid("a file name is not valid percent-encoding");
      }
    }
    // Browsers escape only these three characters.
    return first(FILE, line)
        .map(text -> text.replace("\\\"", "\"").replace("%22", "\""))
        .map(text -> text.replace("%0D", "\r").replace("%0A", "\n"));
  }

  private static Optional<String> first(Pattern pattern, String line) {
    Matcher found = pattern.matcher(line);
    return found.find() ? Optional.of(found.group(1)) : Optional.empty();
  }

  private String line() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    while (true) {
      if (from == to && !fill()) {
        throw truncated();
      }
      byte next = buffer[from++];
      if (next == '\n') {
        String text = line.toString(StandardCharsets.UTF_8);
        return text.endsWith("\r") ? text.substring(0, text.length() - 1) : text;
      }
      line.write(next);
      if (line.size() > MAX_HEADERS) {
        throw ConnectMessage.invalid("the headers of a form part are too large");
      }
    }
  }

  private static EOFException truncated() {
    return new EOFException("the form is truncated");
  }

  /** Compacts the buffer and reads more; returns false at the end of input. */
  private boolean fill() throws IOException {
    System.arraycopy(buffer, from, buffer, 0, to - from);
    to -= from;
    from = 0;
    int read = in.read(buffer, to, buffer.length - to);
    to += Math.max(0, read);
    return read >= 0;
  }

  /** Reads content of the current part; returns -1 when its delimiter is next. */
  private int content(byte[] into, int offset, int length) throws IOException {
    if (!inPart) {
      return -1;
    }
    while (to - from < delimiter.length) {
      if (!fill()) {
        throw truncated();
      }
    }
    int end = delimiterAt();
    if (end == from) {
      inPart = false;
      return -1;
    }
    int count = Math.min(end - from, length);
    System.arraycopy(buffer, from, into, offset, count);
    from += count;
    return count;
  }

  /** Returns the position of the delimiter, or the earliest position at which it could begin. */
  private int delimiterAt() {
    int last = to - delimiter.length;
    int at = from;
    while (at <= last && !isDelimiter(at)) {
      at++;
    }
    return at;
  }

  private boolean isDelimiter(int at) {
    for (int i = 0; i < delimiter.length; i++) {
      if (buffer[at + i] != delimiter[i]) {
        return false;
      }
    }
    return true;
  }

  private final class Content extends InputStream {
    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
      return length == 0 ? 0 : content(into, offset, length);
    }
  }
}
