package dev.isola.client;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Path and query of a request. Segments are percent-encoded, so that an id or file name cannot
 * change the path.
 */
record ApiPath(String text) {
  static ApiPath of(String... parts) {
    return new ApiPath(
        "/api/v1/" + Stream.of(parts).map(ApiPath::encode).collect(Collectors.joining("/")));
  }

  ApiPath resolve(String... parts) {
    return new ApiPath(
        text + Stream.of(parts).map(part -> "/" + encode(part)).collect(Collectors.joining()));
  }

  ApiPath query(String name, Object value) {
    return new ApiPath(
        text + (text.indexOf('?') < 0 ? "?" : "&") + name + "=" + encode(value.toString()));
  }

  ApiPath query(String name, List<String> values) {
    ApiPath path = this;
    for (String value : values) {
      path = path.query(name, value);
    }
    return path;
  }

  private static String encode(String part) {
    String encoded = URLEncoder.encode(part, StandardCharsets.UTF_8).replace("+", "%20");
    return encoded.matches("\\.{1,2}") ? encoded.replace(".", "%2E") : encoded;
  }
}
