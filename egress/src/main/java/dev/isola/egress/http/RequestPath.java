package dev.isola.egress.http;

import java.util.HexFormat;
import java.util.Locale;

/**
 * The path of a request in a form that rules can be compared with. A path that servers understand
 * differently has no such form.
 */
final class RequestPath {
  private RequestPath() {}

  /** A path that cannot be compared with rules. */
  static final class AmbiguousPathException extends Exception {
    private static final long serialVersionUID = 1L;

    AmbiguousPathException(String problem) {
      super(problem);
    }
  }

  /** Returns the target of a request without its query. */
  static String withoutQuery(String target) {
    int query = target.indexOf('?');
    return query < 0 ? target : target.substring(0, query);
  }

  /** Decodes unreserved characters and writes other percent-encodings in upper case. */
  static String normalize(String path) throws AmbiguousPathException {
    StringBuilder result = new StringBuilder(path.length());
    for (int i = 0; i < path.length(); i++) {
      char c = path.charAt(i);
      if (c != '%') {
        if (c <= ' ' || c >= 0x7f || c == '\\' || c == '#') {
          throw new AmbiguousPathException("it contains a character that must be encoded");
        }
        result.append(c);
        continue;
      }
      if (i + 2 >= path.length()
          || !HexFormat.isHexDigit(path.charAt(i + 1))
          || !HexFormat.isHexDigit(path.charAt(i + 2))) {
        throw new AmbiguousPathException("it contains an incomplete percent-encoding");
      }
      int code = HexFormat.fromHexDigits(path, i + 1, i + 3);
      if (code == '/' || code == '\\' || code < ' ' || code == 0x7f || code == '%') {
        throw new AmbiguousPathException(
            "it contains an encoded slash, backslash, percent sign or control character");
      }
      if (Bytes.isUnreserved(code)) {
        result.append((char) code);
      } else {
        result.append(path.substring(i, i + 3).toUpperCase(Locale.ROOT));
      }
      i += 2;
    }
    verifySegments(result.toString());
    return result.toString();
  }

  private static void verifySegments(String path) throws AmbiguousPathException {
    String[] segments = path.split("/", -1);
    for (int i = 1; i < segments.length; i++) {
      // Some servers remove parameters before they resolve a segment.
      String segment = segments[i].split(";|%3B", 2)[0];
      if (segment.equals(".") || segment.equals("..")) {
        throw new AmbiguousPathException("it contains '.' or '..' as a segment");
      }
      if (segment.isEmpty() && (i < segments.length - 1 || !segments[i].isEmpty())) {
        throw new AmbiguousPathException("it contains an empty segment");
      }
    }
  }
}
