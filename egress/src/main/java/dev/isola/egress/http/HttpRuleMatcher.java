package dev.isola.egress.http;

import dev.isola.codec.http.HttpHead;
import dev.isola.codec.http.HttpHead.Field;
import dev.isola.spi.spec.HttpRule;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** Finds the rule that allows a request. */
public final class HttpRuleMatcher {
  /** Headers that delimit or route a request: with another value it is another request. */
  private static final Set<String> RESERVED =
      Set.of(
          "host",
          "connection",
          "content-length",
          "transfer-encoding",
          "te",
          "trailer",
          "upgrade",
          "expect",
          "http2-settings",
          "keep-alive",
          "proxy-connection");

  private final List<HttpRule> rules;

  HttpRuleMatcher(List<HttpRule> rules) {
    this.rules = List.copyOf(rules);
  }

  /** Returns what is wrong with a rule, for the client that sets it; empty if it can be used. */
  public static Optional<String> problem(HttpRule rule) {
    for (String method : rule.methods()) {
      if (!HttpHead.isToken(method) || method.equals("CONNECT")) {
        return Optional.of("'%s' is not a method that can be allowed".formatted(method));
      }
    }
    if (rule.path().filter(path -> !path.startsWith("/") && !path.startsWith("*")).isPresent()) {
      return Optional.of("path '%s' does not begin with '/'".formatted(rule.path().get()));
    }
    for (String name : rule.headers().keySet()) {
      if (!HttpHead.isToken(name)) {
        return Optional.of("'%s' is not the name of a header".formatted(name));
      }
    }
    for (Map.Entry<String, String> header : rule.setHeaders().entrySet()) {
      if (!HttpHead.isToken(header.getKey()) || isReserved(header.getKey())) {
        return Optional.of("header '%s' cannot be set".formatted(header.getKey()));
      }
      if (!header.getValue().chars().allMatch(c -> c == '\t' || (c >= ' ' && c < 0x7f))) {
        return Optional.of(
            "the value of header '%s' contains others than printable ASCII characters"
                .formatted(header.getKey()));
      }
    }
    return Optional.empty();
  }

  static boolean isReserved(String header) {
    return RESERVED.contains(header.toLowerCase(Locale.ROOT));
  }

  /** Returns the names of all headers that a rule requires or sets. */
  Stream<String> headerNames() {
    return rules.stream()
        .flatMap(
            rule ->
                Stream.concat(
                    rule.headers().keySet().stream(), rule.setHeaders().keySet().stream()));
  }

  /**
   * The result of a comparison.
   *
   * @param rule the first rule that matches; empty if there are no rules
   * @param denial why no rule matches; empty if the request is allowed
   */
  record Match(Optional<HttpRule> rule, Optional<String> denial) {}

  Match match(String method, String target, List<Field> fields) {
    if (rules.isEmpty()) {
      return new Match(Optional.empty(), Optional.empty());
    }
    Optional<String> path;
    String problem = "";
    try {
      path = Optional.of(RequestPath.normalize(RequestPath.withoutQuery(target)));
    } catch (RequestPath.AmbiguousPathException e) {
      path = Optional.empty();
      problem = ": its path is ambiguous: " + e.getMessage();
    }
    for (HttpRule rule : rules) {
      if (matches(rule, method, path, fields)) {
        return new Match(Optional.of(rule), Optional.empty());
      }
    }
    return new Match(Optional.empty(), Optional.of("no HTTP rule allows this request" + problem));
  }

  private static boolean matches(
      HttpRule rule, String method, Optional<String> path, List<Field> fields) {
    return (rule.methods().isEmpty() || rule.methods().contains(method))
        && (rule.path().isEmpty()
            || path.filter(text -> matchesPattern(rule.path().get(), text)).isPresent())
        && rule.headers().entrySet().stream()
            .allMatch(header -> matchesHeader(header.getKey(), header.getValue(), fields));
  }

  /** If a header occurs repeatedly, a server may look at any, so every one must match. */
  private static boolean matchesHeader(String name, String pattern, List<Field> fields) {
    List<Field> all = fields.stream().filter(field -> field.is(name)).toList();
    return !all.isEmpty() && all.stream().allMatch(field -> matchesPattern(pattern, field.text()));
  }

  /** Compares with a pattern in which {@code *} stands for any characters. */
  static boolean matchesPattern(String pattern, String text) {
    int p = 0;
    int t = 0;
    int star = -1;
    int resume = 0;
    while (t < text.length()) {
      if (p < pattern.length() && pattern.charAt(p) == '*') {
        star = p++;
        resume = t;
      } else if (p < pattern.length() && pattern.charAt(p) == text.charAt(t)) {
        p++;
        t++;
      } else if (star >= 0) {
        p = star + 1;
        t = ++resume;
      } else {
        return false;
      }
    }
    while (p < pattern.length() && pattern.charAt(p) == '*') {
      p++;
    }
    return p == pattern.length();
  }
}
