package dev.isola.egress;

import dev.isola.egress.policy.Decision;
import dev.isola.spi.capability.EgressAccess.OutboundConnection;
import dev.isola.spi.capability.EgressAccess.RelayedConnection;
import dev.isola.spi.spec.AddressBlock;
import dev.isola.spi.spec.Destination;
import dev.isola.spi.spec.HttpRule;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Decides about the connections of one sandbox and carries the allowed ones. Everything that it is
 * given by the sandbox is hostile: names are checked before they are used, and the number of
 * connections that it works on is bounded, denied ones included.
 */
public final class EgressGate {
  /** Denied connections that are being answered at once; further ones are reset immediately. */
  private static final int MAX_REFUSALS = 16;

  private final OutboundDialer dialer;
  private final Interception http;
  private final EgressObserver observer;
  private final TrafficBudget budget;
  private final Bandwidth bandwidth;
  private final RecentTraffic recent = new RecentTraffic();
  private final Map<Long, OpenConnection> open = new ConcurrentHashMap<>();
  private final Semaphore refusals = new Semaphore(MAX_REFUSALS);
  private final AtomicLong lastId = new AtomicLong();
  private final LongAdder connections = new LongAdder();
  private final LongAdder denials = new LongAdder();
  private final LongAdder sent = new LongAdder();
  private final LongAdder received = new LongAdder();
  private volatile EgressSettings settings;

  /**
   * @param bytesPerSecond the bandwidth of the sandbox in each direction
   */
  public EgressGate(
      EgressSettings settings,
      long bytesPerSecond,
      OutboundDialer dialer,
      Interception http,
      EgressObserver observer) {
    this.settings = settings;
    this.dialer = dialer;
    this.http = http;
    this.observer = observer;
    this.budget = new TrafficBudget(settings.limits());
    this.bandwidth = new Bandwidth(bytesPerSecond);
  }

  /**
   * Replaces the settings. They apply to new connections at once. Connections end whose bytes the
   * server does not see, if there is now a limit of bytes.
   *
   * @param closeExisting whether connections end that the new policy would not allow
   */
  public void replace(EgressSettings changed, boolean closeExisting) {
    settings = changed;
    budget.setLimits(changed.limits());
    boolean limited = !budget.isUnlimited();
    for (OpenConnection connection : open.values()) {
      if ((limited && connection.relayed != null)
          || (closeExisting && !decide(changed, connection.host, connection.port).allowed())) {
        connection.close();
      }
    }
  }

  /** Returns the settings that apply to new connections. */
  public EgressSettings settings() {
    return settings;
  }

  /** Returns the open connections, oldest first. */
  public List<ConnectionView> connections() {
    return open.values().stream()
        .map(OpenConnection::view)
        .sorted(Comparator.comparingLong(ConnectionView::id))
        .toList();
  }

  /** Returns the connections that ended last, latest first. */
  public List<ConnectionView> recentConnections() {
    return recent.connections();
  }

  /** Returns the latest denials, latest first. */
  public List<Denial> recentDenials() {
    return recent.denials();
  }

  public EgressTotals totals() {
    List<OpenConnection> current = new ArrayList<>(open.values());
    return new EgressTotals(
        connections.sum(),
        denials.sum(),
        current.size(),
        sent.sum() + current.stream().mapToLong(OpenConnection::sentBytes).sum(),
        received.sum() + current.stream().mapToLong(OpenConnection::receivedBytes).sum());
  }

  /** Serves a connection until it ends. */
  public void serve(OutboundConnection client) {
    String host = client.host();
    int port = client.port();
    try {
      budget.openConnection();
      try {
        serve(client, host, port);
      } finally {
        budget.closeConnection();
      }
    } catch (Refusal e) {
      refuse(client, host, port, e);
    } catch (IOException e) {
      // An established connection broke. The guest process sees that, too.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void serve(OutboundConnection client, String host, int port)
      throws Refusal, IOException, InterruptedException {
    EgressSettings applied = settings;
    Optional<InetAddress> literal = AddressBlock.address(host);
    if (literal.isPresent()) {
      dialer.check(literal.get()); // first, because no rule would help
    }
    Decision decision = decide(applied, host, port);
    if (!decision.allowed()) {
      throw Refusal.denied(decision.rule(), decision.remedy());
    }
    Optional<String> name = Destination.hostName(host);
    List<InetAddress> addresses =
        name.isPresent() ? dialer.resolve(name.get()) : List.of(literal.orElseThrow());
    boolean intercepted =
        name.isPresent()
            && !applied.policy().bypasses(name.get(), port)
            && (!decision.http().isEmpty() || http.concerns(name.get(), port));
    OpenConnection connection =
        new OpenConnection(lastId.incrementAndGet(), client, host, port, decision.rule());
    try {
      if (intercepted) {
        intercept(connection, name.get(), decision.http(), addresses);
      } else {
        carry(connection, addresses);
      }
    } finally {
      connection.ended();
    }
  }

  private void intercept(
      OpenConnection connection, String name, List<HttpRule> rules, List<InetAddress> addresses)
      throws IOException {
    connection.established();
    bandwidth.carry();
    try {
      http.serve(
          new MeteredConnection(
              connection.client, budget, bandwidth, connection.sent, connection.received),
          name,
          connection.port,
          rules,
          () -> connection.dial(addresses),
          new RequestLog(connection.host, connection.port));
    } finally {
      bandwidth.endCarry();
    }
  }

  /** Copies bytes outside of the server where that is possible and no byte has to be counted. */
  private void carry(OpenConnection connection, List<InetAddress> addresses)
      throws Refusal, IOException, InterruptedException {
    if (budget.isUnlimited()) {
      Optional<RelayedConnection> relayed = connection.relayOrRefuse(addresses);
      if (relayed.isPresent()) {
        try (RelayedConnection carrier = relayed.get()) {
          connection.established();
          bandwidth.relay(carrier);
          if (budget.isUnlimited() && carrier.start()) { // no limit was set in between
            carrier.awaitEnd();
            return;
          }
        } finally {
          bandwidth.endRelay(relayed.get());
        }
        connection.relayed = null;
      }
    }
    bandwidth.carry();
    try (SocketChannel channel = connection.dialOrRefuse(addresses)) {
      connection.established();
      new ByteRelay(
              connection.client, channel, budget, bandwidth, connection.sent, connection.received)
          .run();
    } finally {
      bandwidth.endCarry();
    }
  }

  private static String address(SocketChannel channel) throws IOException {
    return channel.getRemoteAddress() instanceof InetSocketAddress remote
        ? remote.getAddress().getHostAddress()
        : "";
  }

  private static Decision decide(EgressSettings applied, String host, int port) {
    Optional<String> name = Destination.hostName(host);
    if (name.isPresent()) {
      return applied.policy().decide(name.get(), port);
    }
    return AddressBlock.address(host)
        .map(address -> applied.policy().decide(address, port))
        .orElseGet(() -> new Decision(false, "it is neither a name nor an address", List.of(), ""));
  }

  private void refuse(OutboundConnection client, String host, int port, Refusal refusal) {
    record(host, port, "", refusal);
    if (!refusals.tryAcquire()) {
      return; // closing it without an answer resets it
    }
    try {
      http.refuse(client, host, port, refusal.isDenied(), refusal.reason(), refusal.remedy());
    } catch (IOException e) {
      // The guest process did not wait for the answer.
    } finally {
      refusals.release();
    }
  }

  private void record(String host, int port, String request, Refusal refusal) {
    Denial denial =
        new Denial(
            Instant.now(),
            refusal.isDenied(),
            shorten(host),
            port,
            shorten(request),
            refusal.reason(),
            refusal.remedy());
    recent.add(denial);
    if (denial.denied()) {
      denials.increment();
      observer.denied(denial);
    }
  }

  private static String shorten(String text) {
    return text.length() <= 300 ? text : text.substring(0, 300) + "...";
  }

  /** Records the requests of one connection that are not passed on. */
  private final class RequestLog implements Interception.RequestObserver {
    private final String host;
    private final int port;

    RequestLog(String host, int port) {
      this.host = host;
      this.port = port;
    }

    @Override
    public void denied(String method, String path, String reason) {
      record(host, port, (method + " " + path).strip(), Refusal.denied(reason, ""));
    }

    @Override
    public void failed(String reason) {
      record(host, port, "", Refusal.unreachable(reason));
    }
  }

  /** A connection that is being served. */
  private final class OpenConnection {
    private final long id;
    private final OutboundConnection client;
    private final String host;
    private final int port;
    private final String rule;
    private final Instant openedAt = Instant.now();
    private final LongAdder sent = new LongAdder();
    private final LongAdder received = new LongAdder();
    private volatile String address = "";
    private volatile boolean established;
    private volatile boolean closed;
    private volatile @Nullable SocketChannel channel;
    private volatile @Nullable RelayedConnection relayed;

    OpenConnection(long id, OutboundConnection client, String host, int port, String rule) {
      this.id = id;
      this.client = client;
      this.host = host;
      this.port = port;
      this.rule = rule;
    }

    SocketChannel dialOrRefuse(List<InetAddress> addresses) throws Refusal {
      try {
        return dial(addresses);
      } catch (IOException e) {
        throw unreachable(e);
      }
    }

    /** Connects outside of the server; empty if that is not possible. */
    Optional<RelayedConnection> relayOrRefuse(List<InetAddress> addresses) throws Refusal {
      try {
        return dialer.connect(addresses, port, this::relay);
      } catch (IOException e) {
        throw unreachable(e);
      }
    }

    private Optional<RelayedConnection> relay(InetSocketAddress to, Duration timeout)
        throws IOException {
      Optional<RelayedConnection> connected = client.connect(to, timeout);
      if (connected.isPresent()) {
        address = to.getAddress().getHostAddress();
        relayed = connected.get();
      }
      return connected;
    }

    private Refusal unreachable(IOException e) {
      return Refusal.unreachable(host + " port " + port + " cannot be reached: " + e.getMessage());
    }

    SocketChannel dial(List<InetAddress> addresses) throws IOException {
      SocketChannel dialed = dialer.connect(addresses, port);
      channel = dialed;
      address = EgressGate.address(dialed);
      if (closed) {
        dialed.close();
      }
      return dialed;
    }

    void established() {
      if (established) {
        return;
      }
      established = true;
      connections.increment();
      open.put(id, this);
      observer.opened(view());
    }

    void ended() {
      if (!established) {
        return;
      }
      open.remove(id);
      EgressGate.this.sent.add(sentBytes());
      EgressGate.this.received.add(receivedBytes());
      RelayedConnection carrier = relayed;
      if (carrier != null) {
        budget.count(carrier.sentBytes() + carrier.receivedBytes());
      }
      ConnectionView view = view(Optional.of(Instant.now()));
      recent.add(view);
      observer.closed(view);
    }

    void close() {
      closed = true;
      try {
        SocketChannel current = channel;
        if (current != null) {
          current.close();
        }
        RelayedConnection carrier = relayed;
        if (carrier != null) {
          carrier.close();
        }
        client.close();
      } catch (IOException e) {
        throw new UncheckedIOException("a connection cannot be closed", e);
      }
    }

    long sentBytes() {
      RelayedConnection carrier = relayed;
      return sent.sum() + (carrier == null ? 0 : carrier.sentBytes());
    }

    long receivedBytes() {
      RelayedConnection carrier = relayed;
      return received.sum() + (carrier == null ? 0 : carrier.receivedBytes());
    }

    ConnectionView view() {
      return view(Optional.empty());
    }

    private ConnectionView view(Optional<Instant> closedAt) {
      return new ConnectionView(
          id, shorten(host), port, address, rule, sentBytes(), receivedBytes(), openedAt, closedAt);
    }
  }
}
