package dev.isola.link;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.spi.capability.EgressAccess.Relay;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Connections of guest processes to other hosts, as a scripted agent reports them. */
@Timeout(30)
class AgentEgressTest {
  private static final int FIRST = 0x8000_0000;

  @SuppressWarnings("NullAway.Init")
  private FakeAgent agent;

  @SuppressWarnings("NullAway.Init")
  private AgentClient client;

  private final List<String> seen = new CopyOnWriteArrayList<>();

  @AfterEach
  void close() throws IOException {
    client.close();
    agent.close();
    assertThat(agent.failures).isEmpty();
  }

  private AgentEgress start(FakeAgent.Script script) throws IOException {
    agent = FakeAgent.afterHandshake(script);
    client = agent.client(LinkTimeouts.DEFAULT.withResponseTimeout(Duration.ofSeconds(5)));
    return new AgentEgress(client);
  }

  private static byte[] response() {
    return response(1);
  }

  private static byte[] response(int stream) {
    return new WireFieldsBuilder().add(FieldTag.FLAGS, 1).frame(Wire.RESPONSE, stream);
  }

  private static byte[] incoming(byte[] host, long port, int stream) {
    return new WireFieldsBuilder()
        .add(FieldTag.RELAY, 1)
        .add(FieldTag.HOST, host)
        .add(FieldTag.PORT, port)
        .frame(Wire.INCOMING, stream);
  }

  private Relay open(AgentEgress egress) {
    return egress.open(
        "", Set.of(443), connection -> seen.add(connection.host() + ":" + connection.port()));
  }

  @Test
  void handlerReceivesNameAndPortAndTheConnectionIsCancelledWhenItReturns() throws IOException {
    CountDownLatch cancelled = new CountDownLatch(1);
    AgentEgress egress =
        start(
            peer -> {
              Frame request = peer.request();
              assertThat(request.payload()[0]).isEqualTo((byte) 30);
              peer.raw(response());
              peer.raw(incoming("web.example".getBytes(UTF_8), 443, FIRST));
              while (peer.read().type() != Wire.CANCEL) {
                // CREDIT comes first.
              }
              cancelled.countDown();
              peer.answerPings();
            });
    Relay relay = open(egress);
    assertThat(relay.servesEveryPort()).isTrue();
    await().untilAsserted(() -> assertThat(seen).containsExactly("web.example:443"));
    await().until(() -> cancelled.getCount() == 0);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "A.example", "a b", "a/b", "a\nb", "a\u0000b", "\u00e4.example", "a%0d"})
  void hostThatIsNoNameClosesTheConnection(String host) throws IOException {
    assertViolation(incoming(host.getBytes(UTF_8), 443, FIRST));
  }

  @Test
  void longHostOrBadUtf8ClosesTheConnection() throws IOException {
    assertViolation(incoming("a".repeat(254).getBytes(UTF_8), 443, FIRST));
    close();
    assertViolation(incoming(new byte[] {(byte) 0xff, (byte) 0xfe}, 443, FIRST));
    close();
    assertViolation(incoming(new byte[200_000], 443, FIRST));
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 65_536, -1})
  void portOutOfRangeClosesTheConnection(long port) throws IOException {
    assertViolation(incoming("a.example".getBytes(UTF_8), port, FIRST));
  }

  private void assertViolation(byte[] frame) throws IOException {
    AgentEgress egress =
        start(
            peer -> {
              peer.request();
              peer.raw(response());
              peer.raw(frame);
              peer.answerPings();
            });
    AgentConnection connection = client.connection();
    Relay relay = open(egress);
    await().until(connection::isClosed);
    relay.close();
    assertThat(connection.closeReason().orElseThrow().kind()).isEqualTo(CloseReason.Kind.VIOLATION);
    assertThat(seen).isEmpty();
  }

  @Test
  void refusalIsReported() throws IOException {
    AgentEgress egress =
        start(
            peer -> {
              peer.request();
              peer.raw(
                  new WireFieldsBuilder()
                      .add(FieldTag.CODE, Wire.E_UNSUPPORTED)
                      .add(FieldTag.MESSAGE, "not filtered")
                      .frame(Wire.ERROR, 1));
              peer.answerPings();
            });
    assertThatThrownBy(() -> open(egress))
        .isInstanceOf(SandboxException.class)
        .hasMessageContaining("not filtered");
  }

  @Test
  void relayAsksAgainAfterALostConnection() throws IOException {
    AgentEgress egress =
        start(
            peer -> {
              peer.request();
              peer.raw(response()); // and hangs up
            });
    agent.next(
        peer -> {
          peer.request();
          peer.raw(response());
          peer.raw(incoming("again.example".getBytes(UTF_8), 22, FIRST));
          peer.answerPings();
        });
    try (Relay _ = open(egress)) {
      await().untilAsserted(() -> assertThat(seen).contains("again.example:22"));
    }
  }

  @Test
  void changedPortsAreAnotherRequestAndNotTheEnd() throws IOException {
    AgentEgress egress =
        start(
            peer -> {
              peer.request();
              peer.raw(new WireFieldsBuilder().add(FieldTag.FLAGS, 0).frame(Wire.RESPONSE, 1));
              Frame second = peer.request();
              assertThat(WireFields.parse(second.payload(), 1).number(FieldTag.PORT)).isEqualTo(22);
              peer.raw(new WireFieldsBuilder().frame(Wire.END, 1));
              peer.raw(
                  new WireFieldsBuilder()
                      .add(FieldTag.FLAGS, 0)
                      .frame(Wire.RESPONSE, second.stream()));
              peer.raw(
                  new WireFieldsBuilder()
                      .add(FieldTag.RELAY, second.stream())
                      .add(FieldTag.HOST, "b.example")
                      .add(FieldTag.PORT, 22)
                      .frame(Wire.INCOMING, FIRST));
              peer.answerPings();
            });
    try (Relay relay = open(egress)) {
      assertThat(relay.servesEveryPort()).isFalse();
      relay.setPorts(Set.of(22));
      await().untilAsserted(() -> assertThat(seen).containsExactly("b.example:22"));
      assertThat(agent.connections()).isEqualTo(1);
    }
  }

  @Test
  void outputThatEndedIsNotReset() throws IOException {
    List<Integer> frames = new CopyOnWriteArrayList<>();
    AgentEgress egress =
        start(
            peer -> {
              peer.request();
              peer.raw(response());
              peer.raw(incoming("c.example".getBytes(UTF_8), 80, FIRST));
              while (!frames.contains(Wire.EOF)) {
                frames.add(peer.read().type());
              }
              peer.raw(Wire.frame(Wire.EOF, FIRST));
              peer.raw(new WireFieldsBuilder().frame(Wire.END, FIRST));
              peer.answerPings();
            });
    egress.open(
        "",
        Set.of(),
        connection -> {
          try {
            connection.write(ByteBuffer.wrap("hi".getBytes(UTF_8)));
            connection.shutdownOutput();
          } catch (IOException e) {
            seen.add(String.valueOf(e.getMessage()));
          }
        });
    await().until(() -> frames.contains(Wire.EOF));
    assertThat(frames).containsExactly(Wire.CREDIT, Wire.DATA, Wire.EOF);
    assertThat(seen).isEmpty();
  }
}
