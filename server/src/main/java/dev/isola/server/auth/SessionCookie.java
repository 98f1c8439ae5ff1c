package dev.isola.server.auth;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * A cookie of a session: the one that carries its secret, or the one that carries a sign-in in
 * progress at another server.
 *
 * <p>Its name contains the port of the server, because browsers send a cookie to all ports of a
 * host: two servers on one host would end each other's sessions. Over TLS it has the prefix {@code
 * __Host-}, so that pages of subdomains, such as previews, cannot set it.
 *
 * @param name the name of the cookie
 * @param secure whether the server is accessed over TLS
 * @param sameSite which requests of other pages have the cookie
 */
public record SessionCookie(String name, boolean secure, String sameSite) {
  private static final String NAME = "isola_session";
  private static final String SIGN_IN_NAME = NAME + "_signin";
  private static final String HOST_PREFIX = "__Host-";

  /** Another page may have set cookies with the same name. */
  private static final int MAX_VALUES = 10;

  /** Returns the cookie of the server at a host, as the Host header names it. */
  public static SessionCookie of(String host, boolean secure) {
    return of(NAME, host, secure, "Strict");
  }

  /**
   * Returns the cookie of a sign-in in progress. A browser sends it when another page, that of the
   * identity provider, sends the browser back.
   */
  public static SessionCookie ofSignIn(String host, boolean secure) {
    return of(SIGN_IN_NAME, host, secure, "Lax");
  }

  private static SessionCookie of(String name, String host, boolean secure, String sameSite) {
    String port = HostOriginFilter.withPortOf(host, "").replace(':', '_');
    return new SessionCookie((secure ? HOST_PREFIX : "") + name + port, secure, sameSite);
  }

  /** Returns whether a cookie, as {@code NAME=VALUE}, is one of any server's sessions. */
  public static boolean matches(String cookie) {
    String name = cookie.strip();
    return name.startsWith(NAME) || name.startsWith(HOST_PREFIX + NAME);
  }

  /** Returns the values of this cookie in the Cookie headers of a request. */
  public List<String> values(List<String> headers) {
    return headers.stream()
        .flatMap(header -> Stream.of(header.split(";", -1)))
        .map(String::strip)
        .filter(one -> one.startsWith(name + "="))
        .map(one -> one.substring(name.length() + 1))
        .distinct()
        .limit(MAX_VALUES)
        .toList();
  }

  /** Returns the value of a Set-Cookie header that sets the cookie. */
  public String set(String secret, Duration lifetime) {
    return name + "=" + secret + attributes(Math.max(1, lifetime.toSeconds()));
  }

  /** Returns the value of a Set-Cookie header that deletes the cookie. */
  public String clear() {
    return name + "=" + attributes(0);
  }

  private String attributes(long maxAge) {
    return "; Path=/; Max-Age="
        + maxAge
        + "; HttpOnly; SameSite="
        + sameSite
        + (secure ? "; Secure" : "");
  }
}
