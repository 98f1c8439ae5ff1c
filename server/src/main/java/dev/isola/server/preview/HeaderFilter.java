package dev.isola.server.preview;

import dev.isola.server.auth.SessionCookie;
import dev.isola.server.forward.Header;
import dev.isola.server.forward.ResponseHead;
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
 * Filters headers between a client and a sandbox. Credentials of this server do not reach the
 * sandbox, and headers that would affect the server's own pages do not reach a browser.
 */
final class HeaderFilter {
  /** The cookie that grants a browser access to a preview. */
  static final String COOKIE = "isola_preview";

  private static final String SUBPROTOCOLS = "Sec-WebSocket-Protocol";

  /** Hop-by-hop headers. */
  private static final Set<String> HOP_BY_HOP =
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

  /** Headers that would outlive the preview or apply to a whole site. */
  private static final Set<String> NEVER_TO_CLIENT = Set.of("alt-svc", "public-key-pins");

  /**
   * Headers with which an application instructs a reverse proxy: to send a local file or another
   * URL (nginx, Apache, lighttpd, LiteSpeed, Perlbal), or to process includes (ESI). They are meant
   * for the operator's own applications and not for a sandbox.
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
   * Headers that would apply to the server's own pages, with which a preview in path form shares
   * its origin.
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

  /** Gives a page in path form an opaque origin, so that it cannot act as a page of the server. */
  private static final Header SANDBOX =
      new Header("Content-Security-Policy", "sandbox allow-scripts allow-forms allow-popups");

  private HeaderFilter() {}

  /** Returns the protocol that the client asks to upgrade to, if any. */
  static Optional<String> requestedUpgrade(List<Header> headers) {
    boolean upgradeRequested =
        words(headers, "Connection").anyMatch(word -> word.equalsIgnoreCase("upgrade"));
    return Header.first(headers, "Upgrade")
        .filter(word -> upgradeRequested && !word.toLowerCase(Locale.ROOT).startsWith("h2"));
  }

  private static Stream<String> words(List<Header> headers, String name) {
    return Header.values(headers, name).stream()
        .flatMap(value -> Stream.of(value.split(",", -1)))
        .map(String::strip);
  }

  /** Returns the values of the preview cookie. A page may have set others with the same name. */
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
   * Returns the headers that are sent to the sandbox.
   *
   * @param guestHost the Host header; empty for the one that the client sent
   * @param ownCredential whether a header carries a credential of this server
   */
  static List<Header> toSandbox(
      PreviewExchange exchange, Optional<String> guestHost, Predicate<Header> ownCredential) {
    List<Header> sent = exchange.headers();
    Set<String> dropped = dropped(sent);
    List<Header> headers = new ArrayList<>();
    guestHost.ifPresent(
        host -> {
          dropped.add("host");
          headers.add(new Header("Host", host));
        });
    for (Header one : sent) {
      String name = one.name().toLowerCase(Locale.ROOT);
      boolean forwarded =
          !dropped.contains(name)
              && !name.startsWith("x-forwarded-")
              && !name.startsWith("x-isola-")
              && !name.equals("forwarded")
              && !name.equals("cookie")
              && !one.is(SUBPROTOCOLS)
              && !ownCredential.test(one);
      if (forwarded) {
        headers.add(one);
      }
    }
    String cookies =
        cookies(sent)
            .filter(one -> !one.startsWith(COOKIE + "=") && !SessionCookie.matches(one))
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
    Set<String> dropped = new HashSet<>(HOP_BY_HOP);
    words(headers, "Connection")
        .map(word -> word.toLowerCase(Locale.ROOT))
        .filter(word -> !word.equals("host"))
        .forEach(dropped::add);
    return dropped;
  }

  /**
   * Returns the headers that are sent to the client.
   *
   * @param prefix the path prefix of the sandbox's port; empty in host form
   * @param host the Host header of the request
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

  /** Matches underscores as well, because some proxies treat them as dashes. */
  private static boolean isProxyCommand(String name) {
    String dashed = name.replace('_', '-');
    return PROXY_COMMANDS.stream().anyMatch(dashed::startsWith);
  }

  /** Restricts a cookie to this preview; empty for the server's own cookies. */
  private static Optional<String> cookie(String value) {
    if (value.split("=", 2)[0].strip().equals(COOKIE) || SessionCookie.matches(value)) {
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
