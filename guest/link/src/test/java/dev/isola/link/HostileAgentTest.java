package dev.isola.link;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.LinkOption.NOFOLLOW_LINKS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import dev.isola.spi.error.DeadlineExceeded;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Gone;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.OutcomeUnknown;
import dev.isola.spi.error.ProviderUnavailable;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.file.ReadRange;
import dev.isola.spi.file.WriteOptions;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever an agent does, every call ends, the connection is closed and no thread is left. */
@Timeout(20)
class HostileAgentTest {
  /** For handshakes that succeed, also on a busy machine. */
  private static final Duration AMPLE = Duration.ofSeconds(10);

  private static final LinkTimeouts IMPATIENT =
      LinkTimeouts.DEFAULT
          .withConnectTimeout(Duration.ofMillis(400))
          .withHandshakeTimeout(Duration.ofMillis(300))
          .withResponseTimeout(Duration.ofMillis(500))
          .withLongResponseTimeout(Duration.ofMillis(800))
          .withKeepalive(Duration.ofMillis(100), Duration.ofMillis(300));

  @SuppressWarnings("NullAway.Init")
  private FakeAgent agent;

  @SuppressWarnings("NullAway.Init")
  private AgentClient client;

  @AfterEach
  void close() throws IOException {
    client.close();
    agent.close();
    assertThat(agent.failures).isEmpty();
    await().untilAsserted(() -> assertThat(BufferPool.SHARED.inUse()).isZero());
  }

  private void start(FakeAgent.Script script) throws IOException {
    agent = new FakeAgent(script);
    client = agent.client(IMPATIENT);
  }

  private void startAgent(FakeAgent.Script script) throws IOException {
    agent = FakeAgent.afterHandshake(script);
    client = agent.client(IMPATIENT.withConnectTimeout(AMPLE).withHandshakeTimeout(AMPLE));
  }

  private AgentFiles files() {
    return new AgentFiles(client);
  }

  private Execution exec() {
    return new AgentExecutions(client, Optional.empty()).start(Command.argv("true"));
  }

  /** The agent answers the first request with {@code script}, which must close the connection. */
  private void assertViolation(FakeAgent.Script afterRequest) throws IOException {
    startAgent(
        peer -> {
          peer.request();
          afterRequest.run(peer);
          peer.answerPings();
        });
    AgentConnection connection = client.connection();
    assertThatThrownBy(() -> files().stat("/x", NOFOLLOW_LINKS))
        .isInstanceOf(SandboxException.class);
    assertOver(connection, CloseReason.Kind.VIOLATION);
  }

  private static void assertOver(AgentConnection connection, CloseReason.Kind kind) {
    await().until(connection::isClosed);
    assertThat(connection.closeReason().orElseThrow().kind()).isEqualTo(kind);
    await().until(() -> connection.threads().stream().noneMatch(Thread::isAlive));
  }

  @Test
  void wrongProof() throws IOException {
    start(
        peer -> {
          peer.challenge();
          peer.welcome(peer.read(), BootRecord.newSecret());
          peer.silence();
        });
    assertThatThrownBy(() -> client.connection())
        .isInstanceOf(ProviderUnavailable.class)
        .hasMessageContaining("secret");
  }

  @Test
  void garbageInsteadOfAChallenge() throws IOException {
    start(peer -> peer.raw("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".getBytes(UTF_8)));
    assertThatThrownBy(() -> client.connection()).isInstanceOf(ProviderUnavailable.class);
  }

  @Test
  void anotherVersion() throws IOException {
    start(
        peer ->
            peer.raw(
                new WireFieldsBuilder()
                    .add(FieldTag.MAGIC, Wire.MAGIC_TEXT)
                    .add(FieldTag.VERSION_MIN, 2)
                    .add(FieldTag.VERSION_MAX, 9)
                    .add(FieldTag.NONCE, peer.nonce)
                    .frame(Wire.CHALLENGE, 0)));
    assertThatThrownBy(() -> client.connection())
        .isInstanceOf(ProviderUnavailable.class)
        .hasMessageContaining("versions 2 to 9");
  }

  @Test
  void silentBeforeTheChallenge() throws IOException {
    start(FakePeer::silence);
    assertThatThrownBy(() -> client.connection()).isInstanceOf(ProviderUnavailable.class);
  }

  @Test
  void silentAfterHello() throws IOException {
    start(
        peer -> {
          peer.challenge();
          peer.silence();
        });
    assertThatThrownBy(() -> client.connection()).isInstanceOf(ProviderUnavailable.class);
  }

  @Test
  void challengeAgainInsteadOfWelcome() throws IOException {
    start(
        peer -> {
          peer.challenge();
          peer.challenge();
          peer.silence();
        });
    assertThatThrownBy(() -> client.connection()).isInstanceOf(ProviderUnavailable.class);
  }

  @Test
  void challengeAgainLater() throws IOException {
    assertViolation(FakePeer::challenge);
  }

  @Test
  void oversizeFrame() throws IOException {
    assertViolation(
        peer -> {
          byte[] header = Wire.frame(Wire.DATA, 1);
          Wire.putInt(header, 0, Wire.FRAME_MAX + 1);
          peer.raw(header);
        });
  }

  @Test
  void negativeLength() throws IOException {
    assertViolation(
        peer -> {
          byte[] header = Wire.frame(Wire.DATA, 1);
          Wire.putInt(header, 0, -1);
          peer.raw(header);
        });
  }

  @Test
  void truncatedFrame() throws IOException {
    startAgent(
        peer -> {
          peer.request();
          byte[] header = Wire.frame(Wire.END, 1);
          Wire.putInt(header, 0, 100);
          peer.raw(header);
        });
    AgentConnection connection = client.connection();
    assertThatThrownBy(() -> files().makeFolder("/x", 0755)).isInstanceOf(OutcomeUnknown.class);
    assertOver(connection, CloseReason.Kind.DROPPED);
  }

  @Test
  void unknownFrameType() throws IOException {
    assertViolation(peer -> peer.send(99, 1, new byte[3]));
  }

  @Test
  void serverOnlyFrame() throws IOException {
    assertViolation(peer -> peer.send(Wire.REQUEST, 1, new byte[3]));
  }

  @Test
  void unknownStream() throws IOException {
    assertViolation(peer -> peer.send(Wire.END, 77, new byte[0]));
  }

  @Test
  void unopenedAgentStream() throws IOException {
    assertViolation(peer -> peer.send(Wire.DATA, 0x8000_0001, new byte[3]));
  }

  @Test
  void fieldOverrun() throws IOException {
    assertViolation(
        peer -> {
          byte[] payload = new byte[10];
          payload[0] = FieldTag.PATH;
          Wire.putInt(payload, 1, 6);
          peer.send(Wire.END, 1, payload);
        });
  }

  @Test
  void fieldWithNegativeLength() throws IOException {
    assertViolation(
        peer -> {
          byte[] payload = new byte[10];
          Wire.putInt(payload, 1, -6);
          peer.send(Wire.END, 1, payload);
        });
  }

  @Test
  void missingFields() throws IOException {
    assertViolation(peer -> peer.end(1));
  }

  @Test
  void unrequestedContent() throws IOException {
    assertViolation(peer -> peer.output(1, 1, 0, new byte[10]));
  }

  @Test
  void pongWithoutPing() throws IOException {
    assertViolation(peer -> peer.send(Wire.PONG, 0, new byte[8]));
  }

  @Test
  void largePing() throws IOException {
    assertViolation(peer -> peer.send(Wire.PING, 0, new byte[65]));
  }

  @Test
  void incomingWithoutRelay() throws IOException {
    assertViolation(
        peer ->
            peer.raw(
                new WireFieldsBuilder().add(FieldTag.RELAY, 1).frame(Wire.INCOMING, 0x8000_0000)));
  }

  @Test
  void terminalFrameTwice() throws IOException {
    startAgent(
        peer -> {
          peer.request();
          peer.end(1);
          peer.end(1);
          peer.answerPings();
        });
    AgentConnection connection = client.connection();
    files().makeFolder("/x", 0755);
    assertOver(connection, CloseReason.Kind.VIOLATION);
  }

  @Test
  void dataAfterEnd() throws IOException {
    startAgent(
        peer -> {
          peer.request();
          peer.response(1, new WireFieldsBuilder());
          peer.end(1);
          peer.send(Wire.DATA, 1, new byte[5]);
          peer.answerPings();
        });
    AgentConnection connection = client.connection();
    try (InputStream in = files().read("/x", ReadRange.ALL)) {
      assertThat(in.read()).isEqualTo(-1);
    }
    assertOver(connection, CloseReason.Kind.VIOLATION);
  }

  @Test
  void dataAfterEof() throws IOException {
    startAgent(
        peer -> {
          peer.request();
          peer.response(1, new WireFieldsBuilder());
          peer.send(Wire.EOF, 1, new byte[0]);
          peer.send(Wire.DATA, 1, new byte[5]);
          peer.answerPings();
        });
    AgentConnection connection = client.connection();
    assertThatThrownBy(() -> files().read("/x", ReadRange.ALL).read())
        .isInstanceOf(ProviderUnavailable.class);
    assertOver(connection, CloseReason.Kind.VIOLATION);
  }

  @Test
  void moreLargeFramesThanWereGranted() throws IOException {
    startAgent(
        peer -> {
          peer.request();
          peer.response(1, new WireFieldsBuilder());
          for (int sent = 0; sent <= DataFrameInputStream.WINDOW; sent += Wire.FRAME_MAX) {
            peer.send(Wire.DATA, 1, new byte[Wire.FRAME_MAX]);
          }
          peer.answerPings();
        });
    AgentConnection connection = client.connection();
    try (InputStream in = files().read("/x", ReadRange.ALL)) {
      assertOver(connection, CloseReason.Kind.VIOLATION);
      assertThatThrownBy(in::readAllBytes).isInstanceOf(ProviderUnavailable.class);
    }
  }

  @Test
  void largeFramesForAWrite() throws IOException {
    startAgent(
        peer -> {
          peer.request();
          peer.send(Wire.DATA, 1, new byte[Wire.FRAME_MAX]);
          peer.answerPings();
        });
    AgentConnection connection = client.connection();
    assertThatThrownBy(() -> files().write("/x", new EndlessInputStream(), WriteOptions.DEFAULT))
        .isInstanceOf(OutcomeUnknown.class);
    assertOver(connection, CloseReason.Kind.VIOLATION);
  }

  @Test
  void dropsInTheMiddleOfALargeFrame() throws IOException {
    startAgent(
        peer -> {
          peer.request();
          peer.response(1, new WireFieldsBuilder());
          peer.send(Wire.DATA, 1, new byte[Wire.FRAME_MAX]);
          byte[] cut = Wire.frame(Wire.DATA, 1, new byte[Wire.FRAME_MAX]);
          peer.raw(Arrays.copyOf(cut, cut.length / 2));
        });
    AgentConnection connection = client.connection();
    try (InputStream in = files().read("/x", ReadRange.ALL)) {
      assertThat(in.readNBytes(Wire.FRAME_MAX)).hasSize(Wire.FRAME_MAX);
      assertThatThrownBy(in::read).isInstanceOf(SandboxException.class);
    }
    assertOver(connection, CloseReason.Kind.DROPPED);
  }

  @Test
  void endlessEmptyData() throws IOException {
    startAgent(
        peer -> {
          peer.request();
          peer.response(1, new WireFieldsBuilder());
          while (true) {
            peer.send(Wire.DATA, 1, new byte[0]);
          }
        });
    AgentConnection connection = client.connection();
    assertThatThrownBy(() -> files().read("/x", ReadRange.ALL))
        .isInstanceOf(ProviderUnavailable.class);
    assertOver(connection, CloseReason.Kind.VIOLATION);
  }

  @Test
  void endlessGaps() throws IOException {
    startAgent(
        peer -> {
          peer.request();
          peer.started(1);
          while (true) {
            peer.send(Wire.GAP, 1, new byte[16]);
          }
        });
    AgentConnection connection = client.connection();
    Execution execution = exec();
    assertOver(connection, CloseReason.Kind.VIOLATION);
    assertThatThrownBy(execution::read).isInstanceOf(SandboxException.class);
  }

  @Test
  void responseTwice() throws IOException {
    startAgent(
        peer -> {
          peer.request();
          peer.started(1);
          peer.started(1);
          peer.answerPings();
        });
    AgentConnection connection = client.connection();
    exec();
    assertOver(connection, CloseReason.Kind.VIOLATION);
  }

  @Test
  void outputBeyondItsCredit() throws IOException {
    AtomicInteger sent = new AtomicInteger();
    startAgent(
        peer -> {
          peer.request();
          peer.started(1);
          byte[] piece = new byte[64 * 1024];
          for (long offset = 0; true; offset += piece.length) {
            peer.output(1, 1, offset, piece);
            sent.incrementAndGet();
          }
        });
    AgentConnection connection = client.connection();
    Execution execution = exec();
    assertOver(connection, CloseReason.Kind.VIOLATION);
    // No caller reads, so at most a window and the socket's buffer can have been sent.
    assertThat(sent.get() * 64L * 1024).isLessThan(AgentExecution.WINDOW + 1024 * 1024);
    assertThatThrownBy(() -> drain(execution)).isInstanceOf(OutcomeUnknown.class);
    assertThatThrownBy(execution::await).isInstanceOf(OutcomeUnknown.class);
  }

  @Test
  void oneByteAtATimeWithinTheWindow() throws IOException {
    startAgent(
        peer -> {
          peer.request();
          peer.response(1, new WireFieldsBuilder());
          byte[] frame = Wire.frame(Wire.DATA, 1, new byte[1]);
          byte[] many = new byte[frame.length * 1024];
          for (int i = 0; i < 1024; i++) {
            System.arraycopy(frame, 0, many, i * frame.length, frame.length);
          }
          for (int i = 0; i < 512; i++) {
            peer.raw(many);
          }
          peer.end(1);
          peer.answerPings();
        });
    try (InputStream in = files().read("/x", ReadRange.ALL)) {
      assertThat(in.readAllBytes()).hasSize(512 * 1024);
    }
  }

  @Test
  void outputWithDecreasingOffset() throws IOException {
    startAgent(
        peer -> {
          peer.request();
          peer.started(1);
          peer.output(1, 1, 100, new byte[10]);
          peer.output(1, 1, 50, new byte[10]);
          peer.answerPings();
        });
    AgentConnection connection = client.connection();
    Execution execution = exec();
    assertThatThrownBy(() -> drain(execution)).isInstanceOf(SandboxException.class);
    assertOver(connection, CloseReason.Kind.VIOLATION);
  }

  @Test
  void invalidExitKind() throws IOException {
    startAgent(
        peer -> {
          peer.request();
          peer.started(1);
          peer.end(
              1, new WireFieldsBuilder().add(FieldTag.EXIT_KIND, 1).add(FieldTag.SIGNAL, 4000));
          peer.answerPings();
        });
    AgentConnection connection = client.connection();
    Execution execution = exec();
    assertThatThrownBy(execution::await).isInstanceOf(SandboxException.class);
    assertOver(connection, CloseReason.Kind.VIOLATION);
  }

  /** The caller of a stream learns it, too, if it is the last frame that is refused. */
  @ParameterizedTest
  @ValueSource(bytes = {Wire.END, Wire.ERROR})
  @Timeout(30)
  void malformedLastFrame(byte type) throws IOException {
    startAgent(
        peer -> {
          peer.request();
          peer.started(1);
          peer.send(type, 1, new byte[] {1, 2, 3});
          peer.answerPings();
        });
    AgentConnection connection = client.connection();
    Execution execution = exec();
    assertThatThrownBy(execution::await).isInstanceOf(OutcomeUnknown.class);
    assertOver(connection, CloseReason.Kind.VIOLATION);
  }

  @Test
  void creditOfTheWrongSize() throws IOException {
    startAgent(
        peer -> {
          peer.request();
          peer.started(1);
          peer.send(Wire.CREDIT, 1, new byte[3]);
          peer.answerPings();
        });
    AgentConnection connection = client.connection();
    exec();
    assertOver(connection, CloseReason.Kind.VIOLATION);
  }

  @Test
  void errorWithAHugeMessage() throws IOException {
    startAgent(
        peer -> {
          peer.request();
          peer.error(1, Wire.E_NOT_FOUND, "x\u001b[31m\n".repeat(30_000));
          peer.answerPings();
        });
    NotFound thrown =
        catchThrowableOfType(NotFound.class, () -> files().stat("/x", NOFOLLOW_LINKS));
    assertThat(thrown.getMessage())
        .hasSizeLessThan(600)
        .doesNotContain("\u001b")
        .doesNotContain("\n");
    assertThat(client.connection().isClosed()).isFalse();
  }

  @Test
  void errorWithAnUnknownCode() throws IOException {
    startAgent(
        peer -> {
          peer.request();
          peer.error(1, 4711, "something new");
          peer.answerPings();
        });
    assertThatThrownBy(() -> files().stat("/x", NOFOLLOW_LINKS))
        .isInstanceOfSatisfying(
            SandboxException.class,
            e -> assertThat(e.code()).isEqualTo(ErrorCode.EXECUTION_FAILED));
  }

  @Test
  void silentOnARequest() throws IOException {
    startAgent(FakePeer::silence);
    AgentConnection connection = client.connection();
    assertThatThrownBy(() -> files().makeFolder("/x", 0755)).isInstanceOf(OutcomeUnknown.class);
    assertOver(connection, CloseReason.Kind.SILENT);
  }

  @Test
  void answersPingsButNotTheRequest() throws IOException {
    startAgent(FakePeer::answerPings);
    AgentConnection connection = client.connection();
    assertThatThrownBy(() -> files().stat("/x", NOFOLLOW_LINKS))
        .isInstanceOfSatisfying(
            DeadlineExceeded.class,
            e -> assertThat(e.code()).isEqualTo(ErrorCode.DEADLINE_EXCEEDED));
    assertThatThrownBy(() -> files().makeFolder("/x", 0755)).isInstanceOf(OutcomeUnknown.class);
    assertThat(connection.isClosed()).isFalse();
  }

  @Test
  void silentInTheMiddleOfAFile() throws IOException {
    startAgent(
        peer -> {
          peer.request();
          peer.response(1, new WireFieldsBuilder());
          peer.send(Wire.DATA, 1, new byte[100]);
          peer.silence();
        });
    AgentConnection connection = client.connection();
    try (InputStream in = files().read("/x", ReadRange.ALL)) {
      assertThatThrownBy(in::readAllBytes).isInstanceOf(SandboxException.class);
    }
    assertOver(connection, CloseReason.Kind.SILENT);
  }

  @Test
  void silentDuringACommand() throws IOException {
    AtomicInteger attempts = new AtomicInteger();
    start(
        peer -> {
          if (attempts.getAndIncrement() == 0) {
            peer.completeHandshake();
            peer.request();
            peer.started(1);
          }
          peer.silence();
        });
    AgentConnection connection = client.connection();
    Execution execution = exec();
    assertThatThrownBy(execution::read).isInstanceOf(OutcomeUnknown.class);
    assertThatThrownBy(execution::await).isInstanceOf(OutcomeUnknown.class);
    assertOver(connection, CloseReason.Kind.SILENT);
  }

  @Test
  void agentThatNeverReads() throws IOException {
    CountDownLatch over = new CountDownLatch(1);
    startAgent(
        peer -> {
          peer.request();
          byte[] plenty = new byte[4];
          Wire.putInt(plenty, 0, 1 << 30);
          peer.send(Wire.CREDIT, 1, plenty);
          over.await();
        });
    AgentConnection connection = client.connection();
    assertThatThrownBy(() -> files().write("/x", new EndlessInputStream(), WriteOptions.DEFAULT))
        .isInstanceOf(OutcomeUnknown.class);
    assertOver(connection, CloseReason.Kind.SILENT);
    over.countDown();
  }

  @Test
  void agentThatGrantsNoCredit() throws IOException {
    startAgent(FakePeer::answerPings);
    AgentConnection connection = client.connection();
    assertThatThrownBy(() -> files().write("/x", new EndlessInputStream(), WriteOptions.DEFAULT))
        .isInstanceOf(OutcomeUnknown.class);
    assertThat(connection.isClosed()).isFalse();
  }

  @Test
  void pingsWithoutReadingTheAnswers() throws IOException {
    startAgent(
        peer -> {
          byte[] ping = Wire.frame(Wire.PING, 0, new byte[64]);
          for (int i = 0; i < 200_000; i++) {
            peer.raw(ping);
          }
        });
    AgentConnection connection = client.connection();
    // Pongs that the agent does not read are dropped once the send queue is full; the connection
    // ends with its script.
    assertOver(connection, CloseReason.Kind.DROPPED);
  }

  @Test
  void saysByeAndEnds() throws IOException {
    CountDownLatch leave = new CountDownLatch(1);
    startAgent(
        peer -> {
          peer.request();
          peer.started(1);
          leave.await();
          peer.bye("deadline");
        });
    AgentConnection connection = client.connection();
    Execution execution = exec();
    leave.countDown();
    assertOver(connection, CloseReason.Kind.GONE);
    assertThat(execution.await()).isInstanceOf(Exit.Lost.class);
    assertThatThrownBy(execution::read).isInstanceOf(OutcomeUnknown.class);
    assertThatThrownBy(() -> files().stat("/x", NOFOLLOW_LINKS)).isInstanceOf(Gone.class);
    assertThat(client.goneReason()).isPresent();
  }

  @Test
  void interruptedCallerCancelsItsStream() throws Exception {
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch cancelled = new CountDownLatch(1);
    startAgent(
        peer -> {
          peer.request();
          asked.countDown();
          peer.awaitType(Wire.CANCEL);
          cancelled.countDown();
          peer.error(1, Wire.E_CANCELLED, "cancelled");
          Frame second = peer.request();
          peer.error(second.stream(), Wire.E_NOT_FOUND, "no such file");
          peer.answerPings();
        });
    AgentConnection connection = client.connection();
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    AtomicReference<Boolean> flag = new AtomicReference<>(false);
    Thread caller =
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    files().stat("/x", NOFOLLOW_LINKS);
                  } catch (SandboxException e) {
                    thrown.set(e);
                    flag.set(Thread.currentThread().isInterrupted());
                  }
                });
    asked.await();
    caller.interrupt();
    caller.join();
    cancelled.await();
    assertThat(thrown.get()).isInstanceOf(DeadlineExceeded.class);
    assertThat(((SandboxException) thrown.get()).code()).isEqualTo(ErrorCode.CANCELLED);
    assertThat(flag.get()).isTrue();
    assertThatThrownBy(() -> files().stat("/x", NOFOLLOW_LINKS)).isInstanceOf(NotFound.class);
    assertThat(connection.isClosed()).isFalse();
  }

  @Test
  void closingWakesAllWaitingCallers() throws Exception {
    CountDownLatch asked = new CountDownLatch(3);
    startAgent(
        peer -> {
          for (int i = 0; i < 3; i++) {
            peer.request();
            asked.countDown();
          }
          peer.answerPings();
        });
    AgentConnection connection = client.connection();
    AtomicInteger woken = new AtomicInteger();
    for (int i = 0; i < 3; i++) {
      Thread.ofVirtual()
          .start(
              () -> {
                try {
                  files().stat("/x", NOFOLLOW_LINKS);
                } catch (SandboxException e) {
                  woken.incrementAndGet();
                }
              });
    }
    asked.await();
    connection.close();
    connection.close();
    await().until(() -> woken.get() == 3);
    assertOver(connection, CloseReason.Kind.CLOSED);
  }

  private static void drain(Execution execution) {
    while (execution.read().isPresent()) {
      // Only its end matters.
    }
  }

  private static final class EndlessInputStream extends InputStream {
    @Override
    public int read() {
      return 0;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) {
      return length;
    }
  }
}
