package dev.isola.egress.http;

import dev.isola.codec.http.HttpHead;
import dev.isola.codec.http.HttpReader;
import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.spec.HttpRule;
import java.io.EOFException;
import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import javax.net.ssl.SSLException;

/**
 * Serves connections of guest processes as a proxy for HTTP/1.1 and HTTP/2: opens TLS with the
 * authority of the sandbox, checks and changes requests, and passes them on. Other protocols are
 * denied. What follows an upgrade to WebSocket is passed on as it is, except that secrets in the
 * data of the server are replaced.
 *
 * <p>A connection uses at most about 2 MiB of memory, whatever its peers send: buffers of TLS, one
 * piece of 16 KiB and one head of 64 KiB for each direction, and what is held back of bodies.
 */
public final class HttpGate {
  static final int MAX_HEAD = 64 * 1024;

  private static final String FOREIGN_NAME = "the client asked by TLS (SNI) for another host";

  /** The record of a fatal alert. */
  private static final byte[] UNRECOGNIZED_NAME = {21, 3, 3, 0, 2, 2, 112};

  private static final int TLS_HANDSHAKE = 0x16;
  private static final int TLS_MAJOR_VERSION = 3;

  /** Long enough to tell a request line from other protocols. */
  private static final int PEEKED = 2;

  private static final byte[] SSH = "SSH-".getBytes(StandardCharsets.US_ASCII);

  private final UpstreamTrust trust;
  private final Limits limits;

  /** Connects to the host of a connection. */
  public interface Dialer {
    /**
     * Connects to the address that was checked. Called at most once.
     *
     * @throws IOException with a message that the client may read
     */
    SocketChannel dial() throws IOException;
  }

  /** Learns what was decided. No argument contains a secret, a query or a header. */
  public interface Observer {
    /** A request was passed on and the server responded. */
    void allowed(String method, String path, int status);

    /** A request was denied; method and path are empty if there was no complete request. */
    void denied(String method, String path, String reason);

    /** The connection failed for a reason other than a denial. */
    void failed(String reason);
  }

  /**
   * The settings of one connection.
   *
   * @param host the name or the address that the guest process connects to
   * @param rules the only requests that are allowed; every request if empty
   * @param secrets the secrets that may be sent to this host
   */
  public record Target(
      String host,
      int port,
      List<HttpRule> rules,
      List<BoundSecret> secrets,
      SandboxAuthority authority) {
    public Target {
      rules = List.copyOf(rules);
      secrets = List.copyOf(secrets);
    }
  }

  /**
   * Limits of every connection.
   *
   * @param handshake for both TLS handshakes and connecting
   * @param head for a head, from its first byte
   * @param idle without a byte in either direction
   * @param linger for the client to close the connection after its last response
   */
  public record Limits(Duration handshake, Duration head, Duration idle, Duration linger) {
    public static final Limits DEFAULT =
        new Limits(
            Duration.ofSeconds(30),
            Duration.ofSeconds(30),
            Duration.ofMinutes(10),
            Duration.ofSeconds(2));
  }

  public HttpGate(UpstreamTrust trust, Limits limits) {
    this.trust = trust;
    this.limits = limits;
  }

  /**
   * Serves a connection until it ends. Closes both sides.
   *
   * @param client what the guest process sends
   */
  public void serve(
      PortDialing.Connection client, Target target, Dialer dialer, Observer observer) {
    try (ConnectionMonitor monitor = new ConnectionMonitor(limits.idle())) {
      MonitoredConnection plain = new MonitoredConnection(client, monitor);
      switch (protocol(plain, monitor)) {
        case TLS -> serveTls(plain, target, dialer, observer, monitor);
        case HTTP -> {
          ProxiedConnection.Upstream server =
              new ProxiedConnection.Upstream(() -> dial(dialer, monitor));
          proxy(new ProxiedConnection(plain, false, server, observer, monitor, limits), target, "");
        }
        case OTHER ->
            observer.denied("", "", "only HTTP can be sent to " + target.host() + " by its rules");
        case NONE -> {}
      }
    } catch (IOException e) {
      observer.failed(describe(e));
    }
  }

  /** What a client speaks, by its first bytes. */
  private enum Protocol {
    TLS,
    HTTP,
    OTHER,
    NONE
  }

  private Protocol protocol(MonitoredConnection client, ConnectionMonitor monitor)
      throws IOException {
    byte[] start;
    int needed = PEEKED;
    try (ConnectionMonitor.Deadline _ = monitor.deadline(limits.head())) {
      start = client.peek(1);
      if (start.length > 0 && start[0] != TLS_HANDSHAKE && !isLetter(start[0])) {
        return Protocol.OTHER;
      }
      needed = start.length > 0 && start[0] == SSH[0] ? SSH.length : PEEKED;
      start = client.peek(needed);
    } catch (ClosedChannelException e) {
      return Protocol.OTHER; // The client waits for the server to begin, unlike in HTTP.
    }
    if (start.length < needed) {
      return Protocol.NONE;
    }
    if (start[0] == TLS_HANDSHAKE && start[1] == TLS_MAJOR_VERSION) {
      return Protocol.TLS;
    }
    return isLetter(start[0]) && isLetter(start[1]) && !Arrays.equals(start, SSH)
        ? Protocol.HTTP
        : Protocol.OTHER;
  }

  private static boolean isLetter(byte c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  }

  private static PortDialing.Connection dial(Dialer dialer, ConnectionMonitor monitor)
      throws IOException {
    SocketChannel channel = dialer.dial();
    PortDialing.Connection connection =
        new MonitoredConnection(new SocketConnection(channel), monitor);
    // A head and its body are written one after the other and must not wait for each other.
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    return connection;
  }

  private void proxy(ProxiedConnection connection, Target target, String protocol)
      throws IOException {
    RequestPolicy policy =
        new RequestPolicy(
            target.host(), target.port(), target.rules(), new SecretSubstitution(target.secrets()));
    if (protocol.equals(TlsInterceptor.H2)) {
      new Http2Proxy(connection, policy).run();
    } else {
      new Http1Proxy(connection, policy).run();
    }
    ProxiedConnection.linger(connection.client(), connection.monitor(), limits);
  }

  private void serveTls(
      MonitoredConnection plain,
      Target target,
      Dialer dialer,
      Observer observer,
      ConnectionMonitor monitor)
      throws IOException {
    if (!TlsInterceptor.isHost(target.host())) {
      observer.denied("", "", "no certificate can be issued for this host");
      return;
    }
    TlsInterceptor interceptor =
        new TlsInterceptor(
            target.host(), target.port(), target.authority(), trust, () -> dial(dialer, monitor));
    HandshakeBudget budget = target.authority().handshakes();
    TlsConnection client;
    try (ConnectionMonitor.Deadline _ = monitor.deadline(limits.handshake())) {
      if (asksForAnother(plain, target.host())) {
        plain.write(ByteBuffer.wrap(UNRECOGNIZED_NAME));
        plain.shutdownOutput();
        observer.denied("", "", FOREIGN_NAME);
        return;
      }
      if (!budget.take()) {
        observer.denied("", "", "the sandbox begins more TLS handshakes than it completes");
        return;
      }
      client = interceptor.accept(plain);
      budget.giveBack();
    } catch (SSLException | EOFException e) {
      reportHandshake(interceptor, e, observer);
      return;
    }
    ProxiedConnection connection =
        new ProxiedConnection(client, true, interceptor.server(), observer, monitor, limits);
    proxy(connection, target, client.engine().getApplicationProtocol());
  }

  private static boolean asksForAnother(MonitoredConnection client, String host)
      throws IOException {
    return ClientHello.serverName(client).filter(name -> !name.equalsIgnoreCase(host)).isPresent();
  }

  private static void reportHandshake(
      TlsInterceptor interceptor, IOException e, Observer observer) {
    if (interceptor.foreignName()) {
      observer.denied("", "", FOREIGN_NAME);
    } else {
      observer.failed(
          "the TLS handshake with the client failed ("
              + e.getMessage()
              + "); if the client accepts only the certificate of the host, add the host to bypass");
    }
  }

  /**
   * Answers a connection that is denied: with status 403 and the reason if it is HTTP, also within
   * TLS unless the sandbox has many such connections; otherwise with a reset. Closes the
   * connection.
   */
  public void refuse(
      PortDialing.Connection client,
      String host,
      int port,
      SandboxAuthority authority,
      String reason,
      String remedy) {
    refuse(client, host, port, authority, Denial.forbidden(reason, remedy));
  }

  /**
   * Answers a connection to a host that cannot be reached in the same way, with status 502.
   *
   * @param reason why, in words
   */
  public void fail(
      PortDialing.Connection client,
      String host,
      int port,
      SandboxAuthority authority,
      String reason) {
    refuse(client, host, port, authority, Denial.badGateway(reason));
  }

  private void refuse(
      PortDialing.Connection client,
      String host,
      int port,
      SandboxAuthority authority,
      Denial denial) {
    try (ConnectionMonitor monitor = new ConnectionMonitor(limits.handshake());
        ConnectionMonitor.Deadline _ = monitor.deadline(limits.handshake())) {
      MonitoredConnection plain = new MonitoredConnection(client, monitor);
      switch (protocol(plain, monitor)) {
        case HTTP -> refuse(plain, denial, monitor);
        case TLS -> {
          if (TlsInterceptor.isHost(host)
              && !asksForAnother(plain, host)
              && authority.refusals().take()) {
            TlsInterceptor interceptor =
                new TlsInterceptor(
                    host,
                    port,
                    authority,
                    trust,
                    () -> {
                      throw new IOException("the connection is denied");
                    });
            refuse(interceptor.acceptAlone(plain), denial, monitor);
          }
        }
        case OTHER, NONE -> {}
      }
    } catch (IOException e) {
      // The client left, or does not speak HTTP; the denial was reported before.
    }
  }

  private void refuse(PortDialing.Connection client, Denial denial, ConnectionMonitor monitor)
      throws IOException {
    HttpHead head = new HttpReader(client).head(MAX_HEAD);
    ByteBuffer response =
        ByteBuffer.wrap(denial.response(!head.startLine().startsWith("HEAD "), true));
    while (response.hasRemaining()) {
      client.write(response);
    }
    client.shutdownOutput();
    ProxiedConnection.linger(client, monitor, limits);
  }

  /** Returns a description of a failure that contains nothing of what was transferred. */
  static String describe(IOException e) {
    String problem = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    return switch (e) {
      case SSLException _ -> "TLS failed: " + problem;
      case ClosedChannelException _ -> "the connection was closed or timed out";
      default -> problem;
    };
  }
}
