package dev.isola.egress;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.egress.address.AddressFloor;
import dev.isola.egress.address.NameResolver;
import dev.isola.egress.policy.Ceiling;
import dev.isola.egress.policy.EgressPolicy;
import dev.isola.spi.capability.EgressAccess.OutboundConnection;
import dev.isola.spi.capability.EgressAccess.RelayedConnection;
import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.spec.AddressBlock;
import dev.isola.spi.spec.Egress;
import dev.isola.spi.spec.EgressRule;
import dev.isola.spi.spec.HttpRule;
import dev.isola.spi.spec.Network;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** G1 to G4, G8: what becomes of a connection, with real sockets on loopback. */
class EgressGateTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  private ServerSocketChannel host = unopened();
  private final List<Denial> denials = new CopyOnWriteArrayList<>();
  private final List<ConnectionView> closed = new CopyOnWriteArrayList<>();
  private final List<String> lookups = new CopyOnWriteArrayList<>();
  private final List<String> refused = new CopyOnWriteArrayList<>();
  private long bandwidth = 1L << 40;

  private static ServerSocketChannel unopened() {
    try {
      return ServerSocketChannel.open();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @BeforeEach
  void listen() throws IOException {
    host.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    Thread.ofVirtual().start(this::echo);
  }

  @AfterEach
  void close() throws IOException {
    host.close();
  }

  /** Echoes what each connection sends. */
  private void echo() {
    try {
      while (true) {
        SocketChannel channel = host.accept();
        Thread.ofVirtual()
            .start(
                () -> {
                  try (channel) {
                    ByteBuffer buffer = ByteBuffer.allocate(4096);
                    while (channel.read(buffer.clear()) >= 0) {
                      channel.write(buffer.flip());
                    }
                  } catch (IOException e) {
                    // the other side has left
                  }
                });
      }
    } catch (IOException e) {
      // the test has ended
    }
  }

  private int port() {
    return host.socket().getLocalPort();
  }

  /** A connection of a guest process, made of text that it sends. */
  private static final class FakeConnection implements OutboundConnection {
    private final String host;
    private final int port;
    private final Deque<byte[]> sends = new ArrayDeque<>();
    private final StringBuilder received = new StringBuilder();
    private volatile boolean endOfResponse;
    private volatile boolean closed;

    /** What {@link #connect} returns; null if there is no relay process. */
    private @Nullable FakeRelay relay;

    FakeConnection(String host, int port, String... sends) {
      this.host = host;
      this.port = port;
      Arrays.stream(sends).forEach(text -> this.sends.add(text.getBytes(UTF_8)));
    }

    @Override
    public String host() {
      return host;
    }

    @Override
    public int port() {
      return port;
    }

    @Override
    public Optional<RelayedConnection> connect(InetSocketAddress to, Duration timeout) {
      return Optional.ofNullable(relay);
    }

    @Override
    public int read(ByteBuffer target) {
      byte[] next = sends.poll();
      if (next == null) {
        return -1;
      }
      target.put(next);
      return next.length;
    }

    @Override
    public int write(ByteBuffer source) {
      int count = source.remaining();
      synchronized (received) {
        received.append(UTF_8.decode(source));
      }
      return count;
    }

    @Override
    public void shutdownOutput() {
      endOfResponse = true;
    }

    @Override
    public boolean isOpen() {
      return !closed;
    }

    @Override
    public void close() {
      closed = true;
    }
  }

  /** A connection of a relay process that has carried 5 and 7 bytes. */
  private static final class FakeRelay implements RelayedConnection {
    private final boolean starts;
    private final List<Long> limits = new CopyOnWriteArrayList<>();
    private final CountDownLatch started = new CountDownLatch(1);
    private final CountDownLatch ended = new CountDownLatch(1);

    FakeRelay(boolean starts) {
      this.starts = starts;
    }

    @Override
    public void limit(long bytesPerSecond) {
      limits.add(bytesPerSecond);
    }

    @Override
    public boolean start() {
      started.countDown();
      return starts;
    }

    @Override
    public long sentBytes() {
      return starts ? 5 : 0;
    }

    @Override
    public long receivedBytes() {
      return starts ? 7 : 0;
    }

    @Override
    public void awaitEnd() throws InterruptedException {
      ended.await();
    }

    @Override
    public void close() {
      ended.countDown();
    }
  }

  private final class FakeInterception implements Interception {
    @Override
    public boolean concerns(String name, int port) {
      return name.equals("secret.example");
    }

    @Override
    public void serve(
        PortDialing.Connection client,
        String name,
        int port,
        List<HttpRule> rules,
        Dialer dialer,
        RequestObserver observer) {
      observer.denied("GET", "/" + name, "test");
    }

    @Override
    public void refuse(
        PortDialing.Connection client,
        String name,
        int port,
        boolean denied,
        String reason,
        String remedy) {
      refused.add((denied ? "denied: " : "failed: ") + reason);
    }
  }

  private EgressGate gate(NameResolver resolver, Egress.Limits limits, EgressRule... rules) {
    AddressFloor floor =
        new AddressFloor(Set::of, List.of(AddressBlock.parse("127.0.0.1").orElseThrow()));
    return new EgressGate(
        settings(limits, rules),
        bandwidth,
        new OutboundDialer(
            name -> {
              lookups.add(name);
              return resolver.resolve(name);
            },
            floor,
            TIMEOUT),
        new FakeInterception(),
        new EgressObserver() {
          @Override
          public void denied(Denial denial) {
            denials.add(denial);
          }

          @Override
          public void opened(ConnectionView connection) {}

          @Override
          public void closed(ConnectionView connection) {
            closed.add(connection);
          }
        });
  }

  private static EgressSettings settings(Egress.Limits limits, EgressRule... rules) {
    Egress egress =
        new Egress(
            Optional.empty(),
            List.of(rules),
            List.of(),
            Map.of(),
            List.of("bypassed.secret.example"),
            false,
            Egress.Limits.NONE);
    return new EgressSettings(
        EgressPolicy.of(Network.filtered(egress), Ceiling.NONE, Map.of()), limits);
  }

  private static NameResolver to(String... addresses) {
    return _ -> Arrays.stream(addresses).map(InetAddress::ofLiteral).toList();
  }

  @Test
  void allowedConnectionIsCarried() {
    EgressGate gate = gate(to("127.0.0.1"), Egress.Limits.NONE, EgressRule.allow("ok.example"));
    FakeConnection client = new FakeConnection("OK.example.", port(), "hello ", "world");

    gate.serve(client);

    assertThat(client.received.toString()).isEqualTo("hello world");
    assertThat(client.endOfResponse).isTrue();
    assertThat(closed)
        .singleElement()
        .satisfies(
            one -> {
              assertThat(one.sentBytes()).isEqualTo(11);
              assertThat(one.receivedBytes()).isEqualTo(11);
              assertThat(one.address()).isEqualTo("127.0.0.1");
              assertThat(one.rule()).isEqualTo("allow ok.example");
            });
    assertThat(gate.totals()).isEqualTo(new EgressTotals(1, 0, 0, 11, 11));
    assertThat(denials).isEmpty();
  }

  private static final Egress.Limits BYTES =
      new Egress.Limits(
          OptionalLong.empty(), OptionalLong.empty(), OptionalLong.empty(), OptionalLong.of(12));

  @Test
  void relayProcessCarriesAConnectionThatNothingLimits() throws InterruptedException {
    EgressGate gate = gate(to("127.0.0.1"), Egress.Limits.NONE, EgressRule.allow("ok.example"));
    FakeConnection client = new FakeConnection("ok.example", port(), "hello");
    FakeRelay relay = new FakeRelay(true);
    client.relay = relay;
    Thread serving = Thread.ofVirtual().start(() -> gate.serve(client));

    relay.started.await();
    assertThat(gate.connections())
        .singleElement()
        .extracting(ConnectionView::sentBytes, ConnectionView::receivedBytes)
        .containsExactly(5L, 7L);
    assertThat(gate.totals()).isEqualTo(new EgressTotals(1, 0, 1, 5, 7));
    relay.ended.countDown();
    serving.join();

    assertThat(client.received.toString()).isEmpty();
    assertThat(closed).singleElement().extracting(ConnectionView::address).isEqualTo("127.0.0.1");
    assertThat(gate.totals()).isEqualTo(new EgressTotals(1, 0, 0, 5, 7));
    gate.replace(settings(BYTES, EgressRule.allow("ok.example")), false);
    gate.serve(new FakeConnection("ok.example", port(), "hello"));
    assertThat(denials).singleElement().extracting(Denial::reason).asString().contains("12 bytes");
  }

  @Test
  void serverCarriesAConnectionWhoseBytesAreLimited() {
    EgressGate gate = gate(to("127.0.0.1"), BYTES, EgressRule.allow("ok.example"));
    FakeConnection client = new FakeConnection("ok.example", port(), "hello");
    client.relay = new FakeRelay(true);
    gate.serve(client);
    assertThat(client.received.toString()).isEqualTo("hello");
  }

  @Test
  void serverCarriesAConnectionThatCannotBeHandedOver() {
    EgressGate gate = gate(to("127.0.0.1"), Egress.Limits.NONE, EgressRule.allow("ok.example"));
    FakeConnection client = new FakeConnection("ok.example", port(), "hello");
    client.relay = new FakeRelay(false);
    gate.serve(client);
    assertThat(client.received.toString()).isEqualTo("hello");
    assertThat(gate.totals()).isEqualTo(new EgressTotals(1, 0, 0, 5, 5));
    assertThat(closed).hasSize(1);
  }

  @Test
  void serverHoldsTheBandwidth() {
    bandwidth = 200_000;
    EgressGate gate = gate(to("127.0.0.1"), Egress.Limits.NONE, EgressRule.allow("ok.example"));
    String[] pieces = new String[15];
    Arrays.fill(pieces, "x".repeat(4_000));
    FakeConnection client = new FakeConnection("ok.example", port(), pieces);
    long start = System.nanoTime();

    gate.serve(client);

    // A twentieth of a second's bytes are there at once, the other 50,000 are not.
    assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(250_000_000L);
    assertThat(gate.totals()).isEqualTo(new EgressTotals(1, 0, 0, 60_000, 60_000));
  }

  @Test
  void relayProcessIsToldTheBandwidthBeforeItStarts() throws InterruptedException {
    bandwidth = 200_000;
    EgressGate gate = gate(to("127.0.0.1"), Egress.Limits.NONE, EgressRule.allow("ok.example"));
    FakeConnection client = new FakeConnection("ok.example", port());
    FakeRelay relay = new FakeRelay(true);
    client.relay = relay;
    Thread serving = Thread.ofVirtual().start(() -> gate.serve(client));
    relay.started.await();
    assertThat(relay.limits).containsExactly(200_000L);
    FakeConnection other = new FakeConnection("ok.example", port(), "hello");
    gate.serve(other);
    assertThat(other.received.toString()).isEqualTo("hello");
    assertThat(relay.limits)
        .as("one half while the server carries a connection")
        .containsExactly(200_000L, 100_000L, 200_000L);
    relay.ended.countDown();
    serving.join();
  }

  @Test
  void changedSettingsCloseRelayedConnections() throws InterruptedException {
    for (boolean limit : new boolean[] {true, false}) {
      EgressGate gate = gate(to("127.0.0.1"), Egress.Limits.NONE, EgressRule.allow("ok.example"));
      FakeConnection client = new FakeConnection("ok.example", port());
      FakeRelay relay = new FakeRelay(true);
      client.relay = relay;
      Thread serving = Thread.ofVirtual().start(() -> gate.serve(client));
      relay.started.await();
      gate.replace(settings(Egress.Limits.NONE, EgressRule.allow("ok.example")), true);
      assertThat(relay.ended.getCount()).isEqualTo(1); // the control
      if (limit) {
        gate.replace(settings(BYTES, EgressRule.allow("ok.example")), false);
      } else {
        gate.replace(settings(Egress.Limits.NONE), true);
      }
      serving.join();
      assertThat(client.closed).isTrue();
    }
  }

  @Test
  void deniedNameIsNotLookedUp() {
    EgressGate gate = gate(to("127.0.0.1"), Egress.Limits.NONE, EgressRule.allow("ok.example"));

    gate.serve(new FakeConnection("data-in-the-name.evil.example", 443));

    assertThat(lookups).isEmpty();
    assertThat(denials)
        .singleElement()
        .satisfies(
            one ->
                assertThat(one.remedy()).isEqualTo("allow data-in-the-name.evil.example port 443"));
    assertThat(refused).singleElement().asString().startsWith("denied: no rule allows");
  }

  @Test
  void nameOfAPrivateAddressIsRefused() {
    EgressGate gate = gate(to("10.0.0.5"), Egress.Limits.NONE, EgressRule.allow("ok.example"));

    gate.serve(new FakeConnection("ok.example", port()));

    assertThat(denials)
        .singleElement()
        .satisfies(one -> assertThat(one.reason()).contains("private network"));
  }

  @Test
  void nameIsResolvedOnceSoThatAnAnswerThatChangesHasNoEffect() {
    AtomicInteger asked = new AtomicInteger();
    EgressGate gate =
        gate(
            _ ->
                List.of(
                    InetAddress.ofLiteral(asked.getAndIncrement() == 0 ? "127.0.0.1" : "10.0.0.5")),
            Egress.Limits.NONE,
            EgressRule.allow("rebind.example"));
    FakeConnection client = new FakeConnection("rebind.example", port(), "x");

    gate.serve(client);

    assertThat(asked).hasValue(1);
    assertThat(client.received.toString()).isEqualTo("x");
  }

  @Test
  void onlyTheReachableOfSeveralAddressesIsUsed() {
    EgressGate gate =
        gate(
            to("169.254.169.254", "fd00:ec2::254", "127.0.0.1"),
            Egress.Limits.NONE,
            EgressRule.allow("mixed.example"));
    FakeConnection client = new FakeConnection("mixed.example", port(), "x");

    gate.serve(client);

    assertThat(client.received.toString()).isEqualTo("x");
    assertThat(closed)
        .singleElement()
        .satisfies(one -> assertThat(one.address()).isEqualTo("127.0.0.1"));
  }

  @Test
  void hostThatIsNeitherNameNorAddressIsDenied() {
    EgressGate gate = gate(to("127.0.0.1"), Egress.Limits.NONE, EgressRule.allow("*"));

    for (String host :
        List.of(
            "",
            ".",
            "a..b",
            "2130706433",
            "0x7f.1",
            "0177.0.0.1",
            "127.1",
            "1.2.3.4.5",
            "a b",
            "a\0b",
            "[::1]",
            "::1%lo",
            "x".repeat(64) + ".example",
            "a.".repeat(127) + "example")) {
      gate.serve(new FakeConnection(host, port()));
    }

    assertThat(lookups).isEmpty();
    assertThat(denials).hasSize(14);
    assertThat(gate.totals().connections()).isZero();
  }

  @Test
  void nameWithoutAddressFailsButIsNoDenial() {
    EgressGate gate =
        gate(
            name -> {
              throw new UnknownHostException(name);
            },
            Egress.Limits.NONE,
            EgressRule.allow("ok.example"));

    gate.serve(new FakeConnection("ok.example", port()));

    assertThat(denials).isEmpty();
    assertThat(gate.recentDenials())
        .singleElement()
        .satisfies(one -> assertThat(one.denied()).isFalse());
    assertThat(refused).singleElement().asString().startsWith("failed: ");
  }

  @Test
  void closedPortFailsButIsNoDenial() throws IOException {
    EgressGate gate = gate(to("127.0.0.1"), Egress.Limits.NONE, EgressRule.allow("ok.example"));

    try (Socket unanswered = new Socket()) { // bound, so that no other test takes its port
      unanswered.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      gate.serve(new FakeConnection("ok.example", unanswered.getLocalPort()));
    }

    assertThat(denials).isEmpty();
    assertThat(refused).singleElement().asString().contains("cannot be reached");
  }

  @Test
  void requestsToHostsWithSecretsAreIntercepted() {
    EgressGate gate = gate(to("127.0.0.1"), Egress.Limits.NONE, EgressRule.allow("*"));

    gate.serve(new FakeConnection("secret.example", port(), "x"));

    assertThat(denials)
        .singleElement()
        .satisfies(one -> assertThat(one.request()).isEqualTo("GET /secret.example"));
  }

  @Test
  void newRulesApplyToNewConnections() {
    EgressGate gate = gate(to("127.0.0.1"), Egress.Limits.NONE, EgressRule.allow("ok.example"));
    gate.replace(settings(Egress.Limits.NONE, EgressRule.allow("other.example")), false);

    gate.serve(new FakeConnection("ok.example", port(), "x"));

    assertThat(denials).hasSize(1);
  }

  @Test
  void connectionsThatNewRulesDenyAreClosedOnRequest() throws Exception {
    EgressGate gate = gate(to("127.0.0.1"), Egress.Limits.NONE, EgressRule.allow("ok.example"));
    SilentConnection client = new SilentConnection("ok.example", port());
    Thread serving = Thread.ofVirtual().start(() -> gate.serve(client));
    await().atMost(TIMEOUT).until(() -> !gate.connections().isEmpty());

    gate.replace(settings(Egress.Limits.NONE, EgressRule.allow("other.example")), false);
    assertThat(client.isOpen()).isTrue();
    gate.replace(settings(Egress.Limits.NONE, EgressRule.allow("other.example")), true);

    assertThat(serving.join(TIMEOUT)).isTrue();
    assertThat(gate.connections()).isEmpty();
  }

  /** A guest process that sends nothing and waits. */
  private static final class SilentConnection implements OutboundConnection {
    private final String host;
    private final int port;
    private boolean closed;

    SilentConnection(String host, int port) {
      this.host = host;
      this.port = port;
    }

    @Override
    public String host() {
      return host;
    }

    @Override
    public int port() {
      return port;
    }

    @Override
    public synchronized int read(ByteBuffer target) throws IOException {
      while (!closed) {
        try {
          wait();
        } catch (InterruptedException e) {
          throw new IOException(e);
        }
      }
      throw new IOException("closed");
    }

    @Override
    public int write(ByteBuffer source) {
      int count = source.remaining();
      source.position(source.limit());
      return count;
    }

    @Override
    public void shutdownOutput() {}

    @Override
    public synchronized boolean isOpen() {
      return !closed;
    }

    @Override
    public synchronized void close() {
      closed = true;
      notifyAll();
    }
  }

  @Test
  void connectionLimitRefuses() throws Exception {
    EgressGate gate =
        gate(
            to("127.0.0.1"),
            new Egress.Limits(
                OptionalLong.of(1),
                OptionalLong.empty(),
                OptionalLong.empty(),
                OptionalLong.empty()),
            EgressRule.allow("ok.example"));
    SilentConnection first = new SilentConnection("ok.example", port());
    Thread serving = Thread.ofVirtual().start(() -> gate.serve(first));
    await().atMost(TIMEOUT).until(() -> !gate.connections().isEmpty());

    gate.serve(new FakeConnection("ok.example", port(), "x"));

    assertThat(denials)
        .singleElement()
        .satisfies(one -> assertThat(one.reason()).contains("open connections"));
    first.close();
    assertThat(serving.join(TIMEOUT)).isTrue();
  }

  @Test
  void whatIsRememberedIsBounded() {
    EgressGate gate = gate(to("127.0.0.1"), Egress.Limits.NONE);

    for (int i = 0; i < 1000; i++) {
      gate.serve(new FakeConnection("host" + i + ".example", 443));
    }

    assertThat(gate.recentDenials()).hasSize(100);
    assertThat(gate.recentDenials().getFirst().host()).isEqualTo("host999.example");
    assertThat(gate.totals().denials()).isEqualTo(1000);
  }
}
