package dev.isola.client;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The path and query of a request. Whatever a caller names stays within its place. */
record Address(String text) {
  static Address of(String... parts) {
    return new Address(
        "/api/v1/" + Stream.of(parts).map(Address::encode).collect(Collectors.joining("/")));
  }

  Address slash(String... parts) {
    return new Address(
        text + Stream.of(parts).map(part -> "/" + encode(part)).collect(Collectors.joining()));
  }

  Address with(String name, Object value) {
    return new Address(
        text + (text.indexOf('?') < 0 ? "?" : "&") + name + "=" + encode(value.toString()));
  }

  Address with(String name, List<String> values) {
    Address all = this;
    for (String value : values) {
      all = all.with(name, value);
    }
    return all;
  }

  private static String encode(String part) {
    String encoded = URLEncoder.encode(part, StandardCharsets.UTF_8).replace("+", "%20");
    return encoded.matches("\\.{1,2}") ? encoded.replace(".", "%2E") : encoded;
  }
}
