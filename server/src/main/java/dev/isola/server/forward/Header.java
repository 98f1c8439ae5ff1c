package dev.isola.server.forward;

import java.util.List;
import java.util.Optional;

/** A header field. */
public record Header(String name, String value) {
  /** Returns whether the header has this name, in whatever case. */
  public boolean is(String other) {
    return name.equalsIgnoreCase(other);
  }

  /** Returns all values of a header, in order. */
  public static List<String> values(List<Header> headers, String name) {
    return headers.stream().filter(one -> one.is(name)).map(Header::value).toList();
  }

  /** Returns the first value of a header. */
  public static Optional<String> first(List<Header> headers, String name) {
    return values(headers, name).stream().findFirst();
  }
}
