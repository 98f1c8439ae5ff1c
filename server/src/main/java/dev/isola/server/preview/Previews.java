package dev.isola.server.preview;

import dev.isola.server.access.ExposedPorts;
import dev.isola.server.access.HostAccessGuard;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.PortCredentials;
import dev.isola.server.auth.SandboxToken;
import dev.isola.server.context.Serving;
import dev.isola.server.context.Waking;
import dev.isola.server.route.SandboxIds;
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
 * Ports of sandboxes as web sites, whatever network a sandbox has: bytes go through its agent. They
 * are for who shows a key or a token, unless somebody opened them.
 */
public final class Previews {
  /** The parameter of a link that holds its token; it is gone after the first request. */
  public static final String PARAMETER = "isola_token";

  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final String FOLDER = "/api/v1/sandboxes/";

  private final Serving serving;
  private final ApiKeys keys;
  private final PortCredentials others;
  private final Duration patience;
  private final Waking waking;
  private final ExposedPorts exposed;
  private final PreviewAdmission admission;

  /**
   * @param others by which clients of other APIs are let in
   */
  public Previews(Serving serving, ApiKeys keys, PortCredentials others) {
    this(serving, keys, others, PATIENCE);
  }

  Previews(Serving serving, ApiKeys keys, PortCredentials others, Duration patience) {
    this.serving = serving;
    this.keys = keys;
    this.others = others;
    this.patience = patience;
    this.waking = new Waking(serving);
    this.exposed = new ExposedPorts(serving);
    this.admission = new PreviewAdmission(serving, keys, new HostAccessGuard(serving), others);
  }

  /** Returns what stands before the paths of a port. */
  public static String prefix(String sandbox, int port) {
    return FOLDER + sandbox + "/ports/" + port;
  }

  /** Returns the prefix in a path that begins with one. */
  public static String prefixOf(String path) {
    int end = -1;
    for (int i = 0; i < 7; i++) {
      end = path.indexOf('/', end + 1);
    }
    return path.substring(0, end);
  }

  /** Reads a port of a path. */
  public static int port(String text) {
    int port = text.matches("[0-9]{1,5}") ? Integer.parseInt(text) : 0;
    if (port < 1 || port > 65_535) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "a port is 1 to 65535",
              "name the port that is listened on")
          .exception();
    }
    return port;
  }

  /** Passes a request on, if whoever asks may. */
  public void serve(PreviewExchange exchange) throws IOException {
    SandboxId sandbox = SandboxIds.of(exchange.path("id"));
    int port = port(exchange.path("port"));
    Target target = Target.of(exchange.target());
    if (target.token().isPresent()) {
      welcome(exchange, sandbox, port, target);
      return;
    }
    Optional<String> shown = admission.admit(exchange, sandbox, port);
    exposed.check(sandbox, port);
    if (!exchange.method().equals("GET")) {
      exchange.actor(new PreviewActor(keys, others).of(exchange.headers(), sandbox, port));
    }
    PortDialing.Connection connection = dial(sandbox, port);
    new Forwarding(exchange, sandbox, port, patience)
        .through(connection, target.clean(), header -> admission.isOurs(header, shown));
  }

  /**
   * The path and the query of a request.
   *
   * @param clean without the token
   */
  record Target(String clean, Optional<String> token) {
    static Target of(String text) {
      int mark = text.indexOf('?');
      if (mark < 0 || text.indexOf(PARAMETER + "=", mark) < 0) {
        return new Target(text, Optional.empty());
      }
      List<String> kept = new ArrayList<>();
      Optional<String> token = Optional.empty();
      for (String part : text.substring(mark + 1).split("&", -1)) {
        if (part.startsWith(PARAMETER + "=")) {
          token = Optional.of(part.substring(PARAMETER.length() + 1));
        } else {
          kept.add(part);
        }
      }
      String path = text.substring(0, mark);
      return new Target(kept.isEmpty() ? path : path + "?" + String.join("&", kept), token);
    }
  }

  /** Gives who comes by a link a cookie, and sends him on to where nobody sees the token. */
  private void welcome(PreviewExchange exchange, SandboxId sandbox, int port, Target target)
      throws IOException {
    exchange.access().refuseBlocked();
    Optional<SandboxToken> token =
        target
            .token()
            .flatMap(keys.tokens()::find)
            .filter(one -> one.opens(sandbox, port))
            .filter(one -> one.kind() == SandboxToken.Kind.PREVIEW);
    if (token.isEmpty()) {
      exchange.access().failed();
    }
    if (token.isEmpty() || exchange.fromForeignPage()) {
      throw PreviewAdmission.unknown("the link is not good, or not any more", "ask for a new link");
    }
    long left = token.get().expiresAt().getEpochSecond() - keys.tokens().in(0).getEpochSecond();
    String cookie =
        Heads.COOKIE
            + "="
            + target.token().get()
            + "; Path="
            + exchange.prefix()
            + "/; Max-Age="
            + Math.max(1, left)
            + "; HttpOnly; SameSite=Lax"
            + (exchange.isSecure() ? "; Secure" : "");
    String clean = target.clean();
    // A path that begins with two slashes would name another host.
    String place =
        exchange.prefix().isEmpty() && clean.startsWith("//")
            ? "/" + clean.replaceFirst("^/+", "")
            : exchange.prefix() + clean;
    List<Header> headers =
        List.of(
            new Header("Location", place),
            new Header("Set-Cookie", cookie),
            new Header("Referrer-Policy", "no-referrer"),
            new Header("Cache-Control", "no-store"),
            new Header("Content-Length", "0"));
    try (OutputStream _ = exchange.begin(303, headers)) {
      // The head says all.
    }
  }

  private PortDialing.Connection dial(SandboxId id, int port) {
    return waking
        .sandbox(id)
        .as(PortDialing.class)
        .orElseThrow(
            () -> Capability.unsupported(serving.engine().entry(id).provider(), "port-dialing"))
        .dial(port);
  }
}
