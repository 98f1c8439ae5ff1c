package dev.isola.server.peer;

import dev.isola.codec.time.Deadline;
import dev.isola.engine.api.Peers;
import dev.isola.engine.api.SandboxHome;
import dev.isola.engine.api.ServerView;
import dev.isola.server.auth.ApiKey;
import dev.isola.server.forward.ForwardableExchange;
import dev.isola.server.forward.Header;
import dev.isola.server.limit.RateLimiter;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The other servers of the installation: passes requests on to the owner of a sandbox, and verifies
 * those that other servers pass on to this one.
 */
public final class PeerServers implements AutoCloseable {
  /** The header with the statement about a request; in a response, {@link #MOVED}. */
  public static final String HEADER = "X-Isola-Peer";

  /** The value of the header in a response of a server that does not own the sandbox. */
  public static final String MOVED = "moved";

  /** The status of that response. */
  public static final int MISDIRECTED = 421;

  /** The path by which another server connects to a port of a sandbox. */
  public static final String PORT_TEMPLATE = "/peer/v1/sandboxes/{id}/ports/{port}";

  /** The protocol that such a connection is upgraded to. */
  public static final String PORT_PROTOCOL = "isola-port";

  /** How long a request waits for the owner: it may be restarting, or about to be replaced. */
  private static final Duration OWNER_TIMEOUT = Duration.ofSeconds(8);

  private static final Duration FIRST_PAUSE = Duration.ofMillis(20);
  private static final Duration LONGEST_PAUSE = Duration.ofMillis(500);
  private static final Duration WATCH_INTERVAL = Duration.ofSeconds(1);
  private static final String RETRY_SECONDS = "1";
  private static final SecureRandom RANDOM = new SecureRandom();

  private final Peers peers;
  private final InstantSource clock;
  private final Duration timeout;
  private final PeerSignature signature;
  private final PeerConnections connections = new PeerConnections();
  private final Thread watch = Thread.ofVirtual().name("isola-peer-watch").unstarted(this::watch);

  public PeerServers(Peers peers) {
    this(peers, InstantSource.system(), OWNER_TIMEOUT);
  }

  PeerServers(Peers peers, InstantSource clock, Duration timeout) {
    this.peers = peers;
    this.clock = clock;
    this.timeout = timeout;
    signature = new PeerSignature(peers.self(), peers::key, clock);
    watch.start();
  }

  /** Returns the name of this server. */
  public String self() {
    return peers.self();
  }

  /** Returns all servers of the installation by name, this one included. */
  public List<ServerView> all() {
    return peers.all().stream().sorted(Comparator.comparing(ServerView::name)).toList();
  }

  /** Returns the server that owns a sandbox; empty if it is this one. */
  public Optional<SandboxHome.At> owner(SandboxId sandbox) {
    return switch (peers.homeOf(sandbox)) {
      case SandboxHome.Here() -> Optional.empty();
      case SandboxHome.At at -> Optional.of(at);
    };
  }

  /**
   * Verifies the statement of a request that another server passed on.
   *
   * @param header the value of {@link #HEADER}
   * @param target the path and the query of the request
   * @throws dev.isola.spi.error.Unauthenticated when it is not valid for this request
   */
  public PeerRequest verify(String header, String method, String target) {
    return signature.verify(header, method, target);
  }

  /**
   * A client's request that concerns a sandbox.
   *
   * @param target the path and the query that are sent to the owner
   * @param requestId the id of the request in the logs
   * @param key the key of the client, if the server checked one
   * @param secrets the credentials of the client, which the owner does not get
   */
  public record ClientRequest(
      ForwardableExchange exchange,
      String target,
      String requestId,
      Optional<ApiKey> key,
      List<String> secrets) {
    public ClientRequest {
      secrets = List.copyOf(secrets);
    }
  }

  /**
   * Passes a request of whose body nothing was read on to the owner of a sandbox.
   *
   * @return whether the client has a response; if not, this server owns the sandbox, and the body
   *     can still be read
   * @throws dev.isola.spi.error.ProviderUnavailable when the owner cannot be reached
   */
  public boolean pass(ClientRequest request, SandboxId sandbox) throws IOException {
    Optional<SandboxHome.At> home = owner(sandbox);
    if (home.isEmpty()) {
      return false;
    }
    RequestBody body = RequestBody.of(request.exchange());
    boolean passed = pass(request, sandbox, home, body);
    if (!passed && body instanceof RequestBody.Buffered(byte[] bytes)) {
      request.exchange().restoreContent(bytes);
    }
    return passed;
  }

  /**
   * Passes a request on to the owner of a sandbox.
   *
   * @param body the body, which was read already
   * @return whether the client has a response; if not, this server owns the sandbox
   * @throws dev.isola.spi.error.ProviderUnavailable when the owner cannot be reached
   */
  public boolean pass(ClientRequest request, SandboxId sandbox, byte[] body) throws IOException {
    return pass(request, sandbox, owner(sandbox), new RequestBody.Buffered(body));
  }

  private boolean pass(
      ClientRequest request, SandboxId sandbox, Optional<SandboxHome.At> first, RequestBody body)
      throws IOException {
    ForwardableExchange exchange = request.exchange();
    List<Header> headers = PeerHeaders.toOwner(exchange.headers(), request.secrets());
    PeerForwarder forwarder =
        new PeerForwarder(connections, exchange, request.target(), headers, body);
    return atOwner(
        sandbox,
        first,
        at -> forwarder.attempt(at, statement(PeerRequest.Kind.REQUEST, request, at)));
  }

  /** Asks one server. */
  private interface Attempt {
    PeerOutcome at(SandboxHome.At owner) throws IOException;
  }

  /** Asks the owner, and the next one if it has changed; returns whether one answered. */
  private boolean atOwner(SandboxId sandbox, Optional<SandboxHome.At> first, Attempt attempt)
      throws IOException {
    Deadline deadline = Deadline.in(timeout);
    Duration pause = FIRST_PAUSE;
    Optional<SandboxHome.At> home = first;
    while (home.isPresent()) {
      SandboxHome.At at = home.get();
      switch (attempt.at(at)) {
        case ANSWERED -> {
          return true;
        }
        case UNKNOWN -> throw unknown(sandbox, at);
        case UNREACHABLE, MOVED -> {
          if (deadline.over()) {
            throw unreachable(sandbox, at);
          }
        }
      }
      sleep(pause, sandbox, at);
      Duration longer = pause.multipliedBy(2);
      pause = longer.compareTo(LONGEST_PAUSE) < 0 ? longer : LONGEST_PAUSE;
      home = owner(sandbox);
    }
    return false;
  }

  private String statement(PeerRequest.Kind kind, ClientRequest request, SandboxHome.At at) {
    ForwardableExchange exchange = request.exchange();
    boolean port = kind == PeerRequest.Kind.PORT;
    return signature.sign(
        new PeerRequest(
            kind,
            peers.self(),
            at.server(),
            clock.instant(),
            nonce(),
            port ? PeerDialer.METHOD : exchange.method(),
            request.target(),
            request.requestId(),
            exchange.remote(),
            exchange.isSecure(),
            request.key()));
  }

  /**
   * Connects to a port of a sandbox that another server owns.
   *
   * @param exchange the request for which this server connects, and which it has authorized
   * @return empty if this server owns the sandbox
   * @throws dev.isola.spi.error.SandboxException with the code that the owner answered
   */
  public Optional<PortDialing.Connection> dial(
      ForwardableExchange exchange, SandboxId sandbox, int port) throws IOException {
    Optional<SandboxHome.At> home = owner(sandbox);
    if (home.isEmpty()) {
      return Optional.empty();
    }
    String target = PeerDialer.target(sandbox, port);
    ClientRequest request =
        new ClientRequest(exchange, target, exchange.requestId(), Optional.empty(), List.of());
    PeerDialer dialer = new PeerDialer(connections, target);
    boolean answered =
        atOwner(
            sandbox, home, at -> dialer.attempt(at, statement(PeerRequest.Kind.PORT, request, at)));
    return answered ? Optional.of(dialer.connection()) : Optional.empty();
  }

  private static String nonce() {
    byte[] bytes = new byte[16];
    RANDOM.nextBytes(bytes);
    return HexFormat.of().formatHex(bytes);
  }

  private static void sleep(Duration pause, SandboxId sandbox, SandboxHome.At at) {
    try {
      Thread.sleep(pause);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the client disconnected, or the server is shutting down
      throw unreachable(sandbox, at);
    }
  }

  /** Returns the error for a request whose owner cannot be reached. Nothing was done. */
  private static SandboxException unreachable(SandboxId sandbox, SandboxHome.At at) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "the server " + at.server() + " owns sandbox " + sandbox + " and cannot be reached",
            "try again in a few seconds, when another server has taken over; if this continues,"
                + " check that the servers reach each other at server.peer_url")
        .sandbox(sandbox)
        .with(RateLimiter.RETRY_AFTER, RETRY_SECONDS)
        .exception();
  }

  private static SandboxException unknown(SandboxId sandbox, SandboxHome.At at) {
    return Fault.of(
            ErrorCode.OUTCOME_UNKNOWN,
            "the server "
                + at.server()
                + ", which owns sandbox "
                + sandbox
                + ", left before it answered",
            "the request may have had an effect; look at the state of the sandbox before you repeat"
                + " it")
        .sandbox(sandbox)
        .exception();
  }

  /**
   * Closes the connections to servers that have lost their lease. A machine that lost power resets
   * no connection, and requests would wait for it forever.
   */
  private void watch() {
    try {
      while (true) {
        Thread.sleep(WATCH_INTERVAL);
        Set<String> connected = connections.servers();
        if (!connected.isEmpty()) {
          closeLost(connected);
        }
      }
    } catch (InterruptedException e) {
      // This object was closed.
    }
  }

  private void closeLost(Set<String> connected) {
    try {
      Set<String> lost = new HashSet<>(connected);
      peers.all().stream().filter(ServerView::alive).map(ServerView::name).forEach(lost::remove);
      lost.forEach(connections::closeAll);
    } catch (SandboxException e) {
      // The ledger is not available. The next check decides.
    }
  }

  /**
   * Ends the streams of events that this server passes on, as it ends its own when it shuts down;
   * clients resume them at another server.
   */
  public void endStreams() {
    connections.endStreams();
  }

  @Override
  public void close() {
    watch.interrupt();
    connections.close();
  }
}
