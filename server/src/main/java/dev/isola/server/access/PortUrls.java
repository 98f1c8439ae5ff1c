package dev.isola.server.access;

import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.Confidential;
import dev.isola.server.auth.HostOriginFilter;
import dev.isola.server.auth.SandboxToken;
import dev.isola.server.auth.Scope;
import dev.isola.server.route.Exchange;
import dev.isola.spi.SandboxId;
import java.time.Instant;

/** The URLs of ports of sandboxes, as a client of this server sees them. */
public final class PortUrls {
  /**
   * The query parameter of a preview link that holds its token. The first request redirects to a
   * URL without it.
   */
  public static final String PARAMETER = "isola_token";

  private static final String SANDBOXES = "/api/v1/sandboxes/";

  /** A URL with a token, which gives a browser access to a private port. */
  public record Link(Confidential url, Instant expiresAt) {}

  private PortUrls() {}

  /** Returns the path prefix of a port. */
  public static String prefix(SandboxId sandbox, int port) {
    return SANDBOXES + sandbox + "/ports/" + port;
  }

  /**
   * Returns the URL of a port: by host name, or by path if that is requested or the client
   * addresses the server by IP address.
   */
  public static String url(Exchange exchange, SandboxId id, int port, boolean byPath) {
    String host = exchange.header("Host").orElse("localhost");
    String site =
        byPath || HostOriginFilter.isAddress(host)
            ? host + prefix(id, port)
            : port + "-" + id + "." + HostOriginFilter.previewDomain(host);
    return (exchange.isSecure() ? "https://" : "http://") + site + "/";
  }

  /** Returns the URL of a port with a token that is valid for some seconds. */
  public static Link link(
      Exchange exchange, ApiKeys keys, SandboxId id, int port, long ttlSeconds, boolean byPath) {
    SandboxToken token =
        new SandboxToken(
            SandboxToken.Kind.PREVIEW, id, port, keys.tokens().expiryAfter(ttlSeconds));
    String url =
        url(exchange, id, port, byPath)
            + "?"
            + PARAMETER
            + "="
            + keys.tokens().sign(token).reveal();
    return new Link(Confidential.token(url, Scope.USE), token.expiresAt());
  }
}
