package dev.isola.server.auth;

import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/**
 * The origin of a request, according to headers that a browser sets and a page cannot change. A
 * browser sends the cookie of a session with requests of other pages too: {@code SameSite} does not
 * distinguish the pages of previews, which are on subdomains.
 */
public enum RequestOrigin {
  /** A page of this server. */
  SAME,
  /** Another page, or the address bar of the browser. */
  OTHER,
  /** The request has no header that tells, as those of programs. */
  UNKNOWN;

  private static final List<String> SAME_ORIGIN = List.of("same-origin");

  /**
   * Determines the origin of a request.
   *
   * @param headers returns all values of a header
   * @param secure whether the request was sent over TLS
   */
  public static RequestOrigin of(Function<String, List<String>> headers, boolean secure) {
    List<String> sites = headers.apply("Sec-Fetch-Site");
    List<String> origins = headers.apply("Origin");
    List<String> hosts = headers.apply("Host");
    if (sites.isEmpty() && origins.isEmpty()) {
      return UNKNOWN;
    }
    if (hosts.size() != 1
        || origins.size() > 1
        || !(sites.isEmpty() || sites.equals(SAME_ORIGIN))) {
      return OTHER;
    }
    String host = hosts.getFirst().toLowerCase(Locale.ROOT);
    // Behind a proxy that ends TLS the scheme differs; Sec-Fetch-Site then decides.
    boolean anyScheme = !sites.isEmpty();
    boolean same =
        origins.stream()
            .allMatch(
                origin ->
                    origin.equals((secure ? "https://" : "http://") + host)
                        || (anyScheme && origin.equals("https://" + host)));
    return same ? SAME : OTHER;
  }
}
