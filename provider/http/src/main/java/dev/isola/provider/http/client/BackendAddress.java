package dev.isola.provider.http.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.net.URI;
import java.net.URLEncoder;
import java.util.Locale;

/**
 * The address of a backend.
 *
 * @param base without a slash at the end
 */
public record BackendAddress(URI base) {

  /**
   * Parses an address.
   *
   * @throws IllegalArgumentException if it is not an absolute http or https URL, or has a user, a
   *     query or a fragment
   */
  public static BackendAddress of(String text) {
    URI uri = URI.create(text.strip().replaceAll("/+$", ""));
    String scheme = String.valueOf(uri.getScheme()).toLowerCase(Locale.ROOT);
    if (!(scheme.equals("http") || scheme.equals("https")) || uri.getHost() == null) {
      throw new IllegalArgumentException("it is not an http or https URL");
    }
    if (uri.getUserInfo() != null || uri.getQuery() != null || uri.getFragment() != null) {
      throw new IllegalArgumentException("it has a user, a query or a fragment");
    }
    return new BackendAddress(uri);
  }

  boolean tls() {
    return base.getScheme().equalsIgnoreCase("https");
  }

  String host() {
    return base.getHost();
  }

  int port() {
    return base.getPort() >= 0 ? base.getPort() : tls() ? 443 : 80;
  }

  /** Returns the address of a path that begins with a slash and is encoded. */
  URI at(String path) {
    return URI.create(base + path);
  }

  /** Encodes a part of a path or a query. */
  public static String encode(String text) {
    return URLEncoder.encode(text, UTF_8).replace("+", "%20");
  }

  /** Returns host and port. */
  @Override
  public String toString() {
    return base.getRawAuthority();
  }
}
