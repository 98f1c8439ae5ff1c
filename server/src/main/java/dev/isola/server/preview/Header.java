package dev.isola.server.preview;

import java.util.List;
import java.util.Optional;

/** A header field. */
public record Header(String name, String value) {
  boolean is(String other) {
    return name.equalsIgnoreCase(other);
  }

  /** Returns all values of a header, in order. */
  static List<String> values(List<Header> headers, String name) {
    return headers.stream().filter(one -> one.is(name)).map(Header::value).toList();
  }

  static Optional<String> first(List<Header> headers, String name) {
    return values(headers, name).stream().findFirst();
  }
}
