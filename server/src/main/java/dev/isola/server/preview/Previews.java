package dev.isola.server.preview;

import dev.isola.server.access.ExposedPorts;
import dev.isola.server.access.GuestHostHeader;
import dev.isola.server.access.HostAccessGuard;
import dev.isola.server.access.PortUrls;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.PortCredentials;
import dev.isola.server.auth.SandboxToken;
import dev.isola.server.context.SandboxResolver;
import dev.isola.server.context.ServerContext;
import dev.isola.server.forward.Header;
import dev.isola.server.peer.PeerServers;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Serves ports of sandboxes as web sites. Traffic goes through the agent, so this works with any
 * network mode. A request needs a key or a token, unless the port is public.
 */
public final class Previews {
  private static final Duration RESPONSE_TIMEOUT = Duration.ofMinutes(2);

  private final ServerContext context;
  private final ApiKeys keys;
  private final PortCredentials extensionCredentials;
  private final Duration timeout;
  private final SandboxResolver resolver;
  private final ExposedPorts exposed;
  private final PreviewAuthorizer authorizer;

  /**
   * @param extensionCredentials the credentials of other APIs
   */
  public Previews(ServerContext context, ApiKeys keys, PortCredentials extensionCredentials) {
    this(context, keys, extensionCredentials, RESPONSE_TIMEOUT);
  }

  Previews(
      ServerContext context, ApiKeys keys, PortCredentials extensionCredentials, Duration timeout) {
    this.context = context;
    this.keys = keys;
    this.extensionCredentials = extensionCredentials;
    this.timeout = timeout;
    this.resolver = new SandboxResolver(context);
    this.exposed = new ExposedPorts(context);
    this.authorizer =
        new PreviewAuthorizer(context, keys, new HostAccessGuard(context), extensionCredentials);
  }

  /** Returns the prefix of a path that begins with one. */
  public static String prefixOf(String path) {
    int end = -1;
    for (int i = 0; i < 7; i++) {
      end = path.indexOf('/', end + 1);
    }
    return path.substring(0, end);
  }

  /** Parses a port number. */
  public static int port(String text) {
    int port = text.matches("[0-9]{1,5}") ? Integer.parseInt(text) : 0;
    if (port < 1 || port > 65_535) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "a port must be from 1 to 65535",
              "use the port that the service listens on")
          .exception();
    }
    return port;
  }

  /** Authorizes and forwards a request. */
  public void serve(PreviewExchange exchange) throws IOException {
    SandboxId sandbox = exchange.sandbox();
    int port = port(exchange.path("port"));
    Target target = Target.of(exchange.target());
    if (target.token().isPresent()) {
      redeemLink(exchange, sandbox, port, target);
      return;
    }
    Optional<String> authorizedBy = authorizer.authorize(exchange, sandbox, port);
    exposed.check(sandbox, port);
    if (!exchange.method().equals("GET")) {
      exchange.setActor(
          new PreviewActor(keys, extensionCredentials).of(exchange.headers(), sandbox, port));
    }
    Optional<String> guestHost = GuestHostHeader.of(context.sandboxes().view(sandbox), port);
    PortDialing.Connection connection = connect(exchange, sandbox, port);
    new PreviewForwarder(exchange, sandbox, port, timeout)
        .forward(
            connection,
            target.clean(),
            guestHost,
            header -> authorizer.isServerCredential(header, authorizedBy));
  }

  /**
   * The path and query of a request.
   *
   * @param clean without the token
   */
  record Target(String clean, Optional<String> token) {
    static Target of(String text) {
      int mark = text.indexOf('?');
      if (mark < 0 || text.indexOf(PortUrls.PARAMETER + "=", mark) < 0) {
        return new Target(text, Optional.empty());
      }
      List<String> kept = new ArrayList<>();
      Optional<String> token = Optional.empty();
      for (String part : text.substring(mark + 1).split("&", -1)) {
        if (part.startsWith(PortUrls.PARAMETER + "=")) {
          token = Optional.of(part.substring(PortUrls.PARAMETER.length() + 1));
        } else {
          kept.add(part);
        }
      }
      String path = text.substring(0, mark);
      return new Target(kept.isEmpty() ? path : path + "?" + String.join("&", kept), token);
    }
  }

  /**
   * Exchanges the token of a preview link for a cookie, and redirects to the URL without the token.
   */
  private void redeemLink(PreviewExchange exchange, SandboxId sandbox, int port, Target target)
      throws IOException {
    Optional<SandboxToken> token =
        target
            .token()
            .flatMap(keys.tokens()::find)
            .filter(one -> one.opens(sandbox, port))
            .filter(one -> one.kind() == SandboxToken.Kind.PREVIEW);
    if (token.isEmpty()) {
      exchange.throttle().refuse();
    }
    if (token.isEmpty() || exchange.isCrossOrigin()) {
      throw PreviewAuthorizer.unauthenticated(
          "the preview link is invalid or has expired", "request a new link");
    }
    long left =
        token.get().expiresAt().getEpochSecond() - keys.tokens().expiryAfter(0).getEpochSecond();
    String cookie =
        HeaderFilter.COOKIE
            + "="
            + target.token().get()
            + "; Path="
            + exchange.prefix()
            + "/; Max-Age="
            + Math.max(1, left)
            + "; HttpOnly"
            + cookieReach(exchange);
    String clean = target.clean();
    // A path that begins with two slashes would be taken for a host.
    String location =
        exchange.prefix().isEmpty() && clean.startsWith("//")
            ? "/" + clean.replaceFirst("^/+", "")
            : exchange.prefix() + clean;
    List<Header> headers =
        List.of(
            new Header("Location", location),
            new Header("Set-Cookie", cookie),
            new Header("Referrer-Policy", "no-referrer"),
            new Header("Cache-Control", "no-store"),
            new Header("Content-Length", "0"));
    try (OutputStream _ = exchange.begin(303, headers)) {
      // The response has no body.
    }
  }

  /**
   * In a frame of a page of another site, such as the dashboard, a browser accepts only a cookie
   * that is partitioned: it is sent beneath that site alone, so no third site can use it.
   */
  private static String cookieReach(PreviewExchange exchange) {
    boolean framed =
        exchange.prefix().isEmpty()
            && Header.values(exchange.headers(), "Sec-Fetch-Dest").equals(List.of("iframe"))
            && Header.values(exchange.headers(), "Sec-Fetch-Site").equals(List.of("cross-site"));
    if (framed) {
      return "; SameSite=None; Secure; Partitioned";
    }
    return exchange.isSecure() ? "; SameSite=Lax; Secure" : "; SameSite=Lax";
  }

  /** Connects to a port of a sandbox, through its owner if that is another server. */
  private PortDialing.Connection connect(PreviewExchange exchange, SandboxId id, int port)
      throws IOException {
    Optional<PeerServers> others = context.components().peers();
    Optional<PortDialing.Connection> remote =
        others.isPresent() ? others.get().dial(exchange, id, port) : Optional.empty();
    return remote.isPresent() ? remote.get() : dial(id, port);
  }

  /** Connects to a port of a sandbox that this server owns. */
  public PortDialing.Connection dial(SandboxId id, int port) {
    return resolver
        .resolve(id)
        .as(PortDialing.class)
        .orElseThrow(
            () -> Capability.unsupported(context.sandboxes().view(id).provider(), "port-dialing"))
        .dial(port);
  }
}
