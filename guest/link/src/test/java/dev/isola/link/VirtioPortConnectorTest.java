package dev.isola.link;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.SandboxId;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Exit;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A server at the host's end of a virtio port, with a fake agent at the other end. */
@Timeout(30)
class VirtioPortConnectorTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(10);
  private static final byte[] WAITING = VirtioPortConnector.WAITING.getBytes(UTF_8);

  private static void handshake(FakePeer peer) throws IOException {
    peer.awaitReset();
    peer.raw(WAITING); // left over
    peer.completeHandshake();
  }

  private static AgentSandbox sandbox(FakeAgent agent) {
    return AgentSandbox.builder(FakeAgent.ID, agent.port(), agent.secret).build();
  }

  @Test
  void serverHangsUpWhenTheAgentStartsANewHandshake() throws Exception {
    CountDownLatch hungUp = new CountDownLatch(1);
    FakeAgent.Script release =
        peer -> {
          handshake(peer);
          peer.end(
              peer.request().stream(),
              new WireFieldsBuilder().add(FieldTag.TIME_NS, 5).add(FieldTag.NONCE, new byte[32]));
          Frame attach = peer.request();
          assertThat(attach.payload()[0]).isEqualTo((byte) AgentOperation.ATTACH.value());
          peer.started(attach.stream());
          peer.exit(attach.stream(), 7);
          peer.answerPings();
        };
    AtomicReference<FakeAgent.Script> next = new AtomicReference<>();
    next.set(
        peer -> {
          next.set(release);
          handshake(peer);
          int execution = peer.request().stream();
          peer.started(execution);
          peer.end(peer.request().stream());
          peer.output(execution, 1, 0, "late".getBytes(UTF_8));
          peer.challenge();
          try {
            peer.silence();
          } catch (EOFException end) {
            hungUp.countDown();
          }
        });
    try (FakeAgent agent = new FakeAgent(peer -> next.get().run(peer));
        AgentSandbox sandbox = sandbox(agent)) {
      Execution execution = sandbox.start(Command.argv("x"));
      SandboxHold hold = sandbox.hold(TIMEOUT);
      assertThat(hungUp.await(5, TimeUnit.SECONDS)).isTrue();
      assertThat(agent.connections()).isEqualTo(1);
      assertThat(hold.release().time()).isEqualTo(Instant.ofEpochSecond(0, 5));
      assertThat(execution.read().orElseThrow().end()).isEqualTo(4);
      assertThat(execution.await()).isEqualTo(new Exit.Exited(7));
      assertThat(agent.failures).isEmpty();
    }
  }

  @Test
  void silentAgentIsConnectedAgain() throws Exception {
    AtomicReference<FakeAgent.Script> next = new AtomicReference<>();
    next.set(
        peer -> {
          next.set(
              second -> {
                handshake(second);
                second.answerPings();
              });
          peer.awaitReset();
          peer.silence();
        });
    try (FakeAgent agent = new FakeAgent(peer -> next.get().run(peer));
        AgentSandbox sandbox = sandbox(agent)) {
      sandbox.connect();
      assertThat(agent.connections()).isEqualTo(2);
      assertThat(agent.failures).isEmpty();
    }
  }

  @Test
  void bootReturnsWhenTheAgentChallenges() throws Exception {
    byte[] record =
        BootRecord.builder(new SandboxId("abc"), BootRecord.newSecret()).build().encode();
    try (FakeAgent agent =
        new FakeAgent(
            peer -> {
              peer.raw(WAITING);
              assertThat(peer.bytes(record.length)).isEqualTo(record);
              peer.raw(WAITING);
              peer.challenge();
              peer.silence();
            })) {
      agent.port().boot(record, TIMEOUT);
      assertThat(agent.failures).isEmpty();
    }
  }

  @Test
  void firstConnectionIsTheOneThatCarriedTheRecord() throws Exception {
    byte[] record = BootRecord.builder(FakeAgent.ID, BootRecord.newSecret()).build().encode();
    AtomicReference<FakeAgent.Script> next = new AtomicReference<>();
    next.set(
        peer -> {
          next.set(
              second -> {
                handshake(second);
                second.answerPings();
              });
          assertThat(peer.bytes(record.length)).isEqualTo(record);
          peer.raw(WAITING);
          peer.completeHandshake();
          peer.answerPings();
        });
    try (FakeAgent agent = new FakeAgent(peer -> next.get().run(peer))) {
      VirtioPortConnector port = agent.port();
      port.boot(record, TIMEOUT);
      try (AgentSandbox sandbox = AgentSandbox.builder(FakeAgent.ID, port, agent.secret).build()) {
        sandbox.connect();
        assertThat(agent.connections()).isEqualTo(1);
      }
      try (AgentSandbox sandbox = AgentSandbox.builder(FakeAgent.ID, port, agent.secret).build()) {
        sandbox.connect();
        assertThat(agent.connections()).isEqualTo(2);
      }
      assertThat(agent.failures).isEmpty();
    }
  }

  @Test
  void connectionThatIsNotUsedIsClosed() throws Exception {
    CountDownLatch hungUp = new CountDownLatch(1);
    byte[] record = BootRecord.builder(FakeAgent.ID, BootRecord.newSecret()).build().encode();
    try (FakeAgent agent =
        new FakeAgent(
            peer -> {
              peer.bytes(record.length);
              peer.challenge();
              try {
                peer.silence();
              } catch (EOFException end) {
                hungUp.countDown();
              }
            })) {
      VirtioPortConnector port = agent.port();
      port.boot(record, TIMEOUT);
      port.close();
      assertThat(hungUp.await(5, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void waitingInitIsRecognizedInPieces() throws Exception {
    try (FakeAgent agent =
        new FakeAgent(
            peer -> {
              for (byte piece : "ting-1\nisola-waiting-1\n".getBytes(UTF_8)) {
                peer.raw(new byte[] {piece});
              }
              peer.silence();
            })) {
      agent.port().awaitWaiting(TIMEOUT);
    }
    try (FakeAgent agent = new FakeAgent(FakePeer::silence)) {
      assertThatThrownBy(() -> agent.port().awaitWaiting(Duration.ofMillis(200)))
          .isInstanceOf(SocketTimeoutException.class);
    }
    try (FakeAgent agent = new FakeAgent(peer -> {})) {
      assertThatThrownBy(() -> agent.port().awaitWaiting(TIMEOUT)).isInstanceOf(IOException.class);
    }
  }
}
