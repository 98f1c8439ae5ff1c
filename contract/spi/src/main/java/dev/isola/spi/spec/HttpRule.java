package dev.isola.spi.spec;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The HTTP requests that a rule allows, and how they are changed.
 *
 * @param methods the allowed methods, such as {@code GET}; every method if empty
 * @param path the allowed path without its query; {@code *} stands for any characters; every path
 *     if empty
 * @param headers headers that a request must have, by name, with the required value; {@code *}
 *     stands for any characters
 * @param setHeaders headers that are added, or replaced if the request has them; a value may
 *     contain <code>${secret.NAME}</code>
 */
public record HttpRule(
    List<String> methods,
    Optional<String> path,
    Map<String, String> headers,
    Map<String, String> setHeaders) {
  public HttpRule {
    methods = List.copyOf(methods);
    headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
    setHeaders = Collections.unmodifiableMap(new LinkedHashMap<>(setHeaders));
  }
}
