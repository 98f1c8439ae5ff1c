package dev.isola.server.preview;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Heads on their way between a client and a sandbox. What was meant for us does not reach the
 * sandbox, and what a sandbox could do to our own pages does not reach a browser.
 */
final class HeaderFilter {
  /** Holds what opens a preview to a browser. */
  static final String COOKIE = "isola_preview";

  private static final String SUBPROTOCOLS = "Sec-WebSocket-Protocol";

  /** These are between two ends of one connection. */
  private static final Set<String> HOP =
      Set.of(
          "connection",
          "keep-alive",
          "proxy-connection",
          "proxy-authenticate",
          "proxy-authorization",
          "te",
          "trailer",
          "transfer-encoding",
          "upgrade",
          "content-length",
          "expect",
          "http2-settings");

  /** These would outlive the preview, or speak for a whole site. */
  private static final Set<String> NEVER_TO_CLIENT = Set.of("alt-svc", "public-key-pins");

  /**
   * By these a reverse proxy before this server is told what to do: to send a file of its own or
   * the answer of another address (nginx, Apache, lighttpd, LiteSpeed, Perlbal), or to run what the
   * body includes (ESI). That is for the operator's own applications, not for a sandbox.
   */
  private static final List<String> PROXY_COMMANDS =
      List.of(
          "x-accel-",
          "x-sendfile",
          "x-send-file",
          "x-lighttpd-",
          "x-litespeed-",
          "x-lsadc-",
          "x-reproxy-",
          "x-esi",
          "surrogate-",
          "edge-control");

  /**
   * These would speak for our own pages, which a preview by path has its address in common with.
   */
  private static final Set<String> NOT_IN_PATH_FORM =
      Set.of(
          "set-cookie",
          "clear-site-data",
          "service-worker-allowed",
          "strict-transport-security",
          "www-authenticate",
          "nel",
          "report-to",
          "reporting-endpoints",
          "origin-agent-cluster",
          "x-request-id");

  /** A page by path runs as if it came from nowhere, so that it cannot act as one of ours. */
  private static final Header SANDBOX =
      new Header("Content-Security-Policy", "sandbox allow-scripts allow-forms allow-popups");

  private HeaderFilter() {}

  /** Returns what a client wants to speak instead of HTTP, if it does. */
  static Optional<String> requestedUpgrade(List<Header> headers) {
    boolean asked = words(headers, "Connection").anyMatch(word -> word.equalsIgnoreCase("upgrade"));
    return Header.first(headers, "Upgrade")
        .filter(word -> asked && !word.toLowerCase(Locale.ROOT).startsWith("h2"));
  }

  private static Stream<String> words(List<Header> headers, String name) {
    return Header.values(headers, name).stream()
        .flatMap(value -> Stream.of(value.split(",", -1)))
        .map(String::strip);
  }

  /** Returns the values of our cookie; a page may have planted others of that name. */
  static List<String> cookieTokens(List<Header> headers) {
    return cookies(headers)
        .filter(one -> one.startsWith(COOKIE + "="))
        .map(one -> one.substring(COOKIE.length() + 1))
        .limit(10)
        .toList();
  }

  private static Stream<String> cookies(List<Header> headers) {
    return Header.values(headers, "Cookie").stream()
        .flatMap(value -> Stream.of(value.split(";", -1)))
        .map(String::strip)
        .filter(one -> !one.isEmpty());
  }

  /**
   * Returns the headers that a sandbox gets.
   *
   * @param ours whether a header has a credential for us
   */
  static List<Header> toSandbox(PreviewExchange exchange, Predicate<Header> ours) {
    List<Header> sent = exchange.headers();
    Set<String> dropped = dropped(sent);
    List<Header> headers = new ArrayList<>();
    for (Header one : sent) {
      String name = one.name().toLowerCase(Locale.ROOT);
      boolean keep =
          !dropped.contains(name)
              && !name.startsWith("x-forwarded-")
              && !name.startsWith("x-isola-")
              && !name.equals("forwarded")
              && !name.equals("cookie")
              && !one.is(SUBPROTOCOLS)
              && !ours.test(one);
      if (keep) {
        headers.add(one);
      }
    }
    String cookies =
        cookies(sent)
            .filter(one -> !one.startsWith(COOKIE + "="))
            .collect(Collectors.joining("; "));
    if (!cookies.isEmpty()) {
      headers.add(new Header("Cookie", cookies));
    }
    String protocols =
        words(sent, SUBPROTOCOLS)
            .filter(one -> !one.isEmpty() && !one.startsWith("isola.bearer."))
            .collect(Collectors.joining(", "));
    if (!protocols.isEmpty()) {
      headers.add(new Header(SUBPROTOCOLS, protocols));
    }
    headers.add(new Header("X-Forwarded-For", exchange.remote()));
    headers.add(new Header("X-Forwarded-Proto", exchange.isSecure() ? "https" : "http"));
    Header.first(sent, "Host").ifPresent(host -> headers.add(new Header("X-Forwarded-Host", host)));
    if (!exchange.prefix().isEmpty()) {
      headers.add(new Header("X-Forwarded-Prefix", exchange.prefix()));
    }
    Optional<String> upgrade = requestedUpgrade(sent);
    headers.add(new Header("Connection", upgrade.isPresent() ? "Upgrade" : "close"));
    upgrade.ifPresent(word -> headers.add(new Header("Upgrade", word)));
    if (exchange.length() > 0) {
      headers.add(new Header("Content-Length", Long.toString(exchange.length())));
    } else if (exchange.length() < 0) {
      headers.add(new Header("Transfer-Encoding", "chunked"));
    } else if (Header.first(sent, "Content-Length").isPresent()) {
      headers.add(new Header("Content-Length", "0"));
    }
    return headers;
  }

  private static Set<String> dropped(List<Header> headers) {
    Set<String> dropped = new HashSet<>(HOP);
    words(headers, "Connection")
        .map(word -> word.toLowerCase(Locale.ROOT))
        .filter(word -> !word.equals("host"))
        .forEach(dropped::add);
    return dropped;
  }

  /**
   * Returns the headers that a client gets.
   *
   * @param prefix before the paths of the sandbox; empty when it has a host of its own
   * @param host that the client asked
   */
  static List<Header> toClient(ResponseHead head, String prefix, Optional<String> host) {
    Set<String> dropped = dropped(head.headers());
    dropped.addAll(NEVER_TO_CLIENT);
    boolean byPath = !prefix.isEmpty();
    if (byPath) {
      dropped.addAll(NOT_IN_PATH_FORM);
    }
    List<Header> headers = new ArrayList<>();
    for (Header one : head.headers()) {
      String name = one.name().toLowerCase(Locale.ROOT);
      if (name.equals("set-cookie") && !byPath) {
        cookie(one.value()).ifPresent(value -> headers.add(new Header(one.name(), value)));
      } else if (name.equals("location") && byPath) {
        headers.add(new Header(one.name(), rewriteLocation(one.value(), prefix, host)));
      } else if (!dropped.contains(name) && !isProxyCommand(name)) {
        headers.add(one);
      }
    }
    if (byPath) {
      headers.add(SANDBOX);
    }
    if (head.isSwitchingProtocols()) {
      headers.add(new Header("Connection", "Upgrade"));
      Header.first(head.headers(), "Upgrade")
          .ifPresent(word -> headers.add(new Header("Upgrade", word)));
    }
    return headers;
  }

  /** Some proxies and gateways read an underscore as a dash. */
  private static boolean isProxyCommand(String name) {
    String dashed = name.replace('_', '-');
    return PROXY_COMMANDS.stream().anyMatch(dashed::startsWith);
  }

  /** A cookie is for this preview only, and not ours. */
  private static Optional<String> cookie(String value) {
    if (value.split("=", 2)[0].strip().equals(COOKIE)) {
      return Optional.empty();
    }
    return Optional.of(
        Stream.of(value.split(";", -1))
            .filter(part -> !part.strip().split("=", 2)[0].strip().equalsIgnoreCase("domain"))
            .collect(Collectors.joining(";")));
  }

  private static String rewriteLocation(String location, String prefix, Optional<String> host) {
    for (String scheme : List.of("http://", "https://")) {
      String own = scheme + host.orElse("") + "/";
      if (host.isPresent() && location.startsWith(own)) {
        return prefix + location.substring(own.length() - 1);
      }
    }
    return location.startsWith("/") && !location.startsWith("//") ? prefix + location : location;
  }
}
