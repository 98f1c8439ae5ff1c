package dev.isola.server.limit;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * The last element of a header {@code Forwarded} (RFC 7239). The header is read from its end,
 * because a client may have sent its beginning. What a proxy quotes, such as the host that a client
 * asked for, is never taken for an element.
 *
 * @param parameters by name in lower case
 * @param before what stands before the element
 */
record ForwardedElement(Map<String, String> parameters, String before) {
  /** How many commas are tried as the beginning of the element. */
  private static final int MAX_STARTS = 64;

  /** Characters of a token, and those of addresses that some proxies do not quote. */
  private static final String TOKEN = "!#$%&'*+-.^_`|~:[]";

  /** Returns the last element; empty if the header does not end with a valid one. */
  static Optional<ForwardedElement> lastOf(String header) {
    List<Integer> starts = new ArrayList<>();
    for (int comma = header.lastIndexOf(','); comma >= 0; ) {
      starts.add(comma + 1);
      comma = starts.size() < MAX_STARTS && comma > 0 ? header.lastIndexOf(',', comma - 1) : -1;
    }
    if (starts.size() < MAX_STARTS) {
      starts.add(0);
    }
    for (int start : starts.reversed()) {
      Optional<Map<String, String>> parameters = new Parser(header, start).parse();
      if (parameters.isPresent()) {
        return Optional.of(
            new ForwardedElement(parameters.get(), header.substring(0, Math.max(0, start - 1))));
      }
    }
    return Optional.empty();
  }

  /** Parses the rest of a header as one element. */
  private static final class Parser {
    private final String text;
    private int at;

    Parser(String text, int start) {
      this.text = text;
      at = start;
    }

    Optional<Map<String, String>> parse() {
      Map<String, String> parameters = new HashMap<>();
      do {
        skipSpace();
        String name = token().toLowerCase(Locale.ROOT);
        Optional<String> value = name.isEmpty() || !skip('=') ? Optional.empty() : value();
        if (value.isEmpty() || parameters.put(name, value.get()) != null) {
          return Optional.empty();
        }
        skipSpace();
      } while (skip(';'));
      return at == text.length() ? Optional.of(parameters) : Optional.empty();
    }

    private void skipSpace() {
      while (at < text.length() && (text.charAt(at) == ' ' || text.charAt(at) == '\t')) {
        at++;
      }
    }

    private boolean skip(char expected) {
      boolean found = at < text.length() && text.charAt(at) == expected;
      at += found ? 1 : 0;
      return found;
    }

    private String token() {
      int start = at;
      while (at < text.length() && isTokenCharacter(text.charAt(at))) {
        at++;
      }
      return text.substring(start, at);
    }

    private static boolean isTokenCharacter(char c) {
      return (c >= '0' && c <= '9')
          || (c >= 'a' && c <= 'z')
          || (c >= 'A' && c <= 'Z')
          || TOKEN.indexOf(c) >= 0;
    }

    private Optional<String> value() {
      if (!skip('"')) {
        return Optional.of(token()).filter(token -> !token.isEmpty());
      }
      StringBuilder value = new StringBuilder();
      while (at < text.length() && text.charAt(at) != '"') {
        at += text.charAt(at) == '\\' && at + 1 < text.length() ? 1 : 0;
        value.append(text.charAt(at++));
      }
      return skip('"') ? Optional.of(value.toString()) : Optional.empty();
    }
  }
}
