package dev.isola.link;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.spi.Secret;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.capability.Renewing;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.capability.Watching;
import dev.isola.spi.error.Gone;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.error.Unsupported;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.OutputLimit;
import dev.isola.spi.file.ReadRange;
import dev.isola.spi.file.Watch;
import dev.isola.spi.file.WriteOptions;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Peers that use a sandbox through the connection of its server, with the real agent. */
@Timeout(120)
class PeerSessionTest {
  private static final Secret PEER_SECRET = BootRecord.newSecret();

  private RealAgent agent;
  private AgentSandbox peer;
  private final List<PortDialing.Connection> sessions = new CopyOnWriteArrayList<>();

  @BeforeEach
  void start() throws IOException {
    agent = new RealAgent();
    peer = peer(PEER_SECRET);
  }

  @AfterEach
  void stop() throws IOException {
    peer.close();
    agent.close();
  }

  private AgentSandbox peer(Secret proven) {
    AgentConnector connector =
        timeout -> {
          PortDialing.Connection session =
              agent.sandbox.guestProtocol().orElseThrow().open(PEER_SECRET);
          sessions.add(session);
          return new SessionChannel(session);
        };
    return AgentSandbox.builder(agent.id, connector, proven).capabilities(RealAgent.ALL).build();
  }

  private record SessionChannel(PortDialing.Connection session) implements AgentChannel {
    @Override
    public int read(ByteBuffer target) throws IOException {
      return session.read(target);
    }

    @Override
    public void write(ByteBuffer source) throws IOException {
      int _ = session.write(source);
    }

    @Override
    public boolean isConnectionOriented() {
      return true;
    }

    @Override
    public boolean supportsVirtualThreads() {
      return true;
    }

    @Override
    public void close() {
      try {
        session.close();
      } catch (IOException e) {
        throw new AssertionError(e);
      }
    }
  }

  @Test
  void commandsAndFilesWorkForPeerAndServerAtOnce() throws Exception {
    List<Thread> threads = new ArrayList<>();
    List<String> failures = new CopyOnWriteArrayList<>();
    for (AgentSandbox one : List.of(peer, agent.sandbox, peer, agent.sandbox)) {
      for (int i = 0; i < 5; i++) {
        String text = "text-" + threads.size();
        threads.add(
            Thread.startVirtualThread(
                () -> {
                  for (int round = 0; round < 10; round++) {
                    ExecResult result = one.run(Command.shell("cat; echo " + text));
                    if (!result.stdout().text().equals(text + "\n")) {
                      failures.add(result.stdout().text());
                    }
                    one.files().writeText("f-" + text, text, UTF_8);
                    if (!one.files().readText("f-" + text, UTF_8, 100).equals(text)) {
                      failures.add(text);
                    }
                  }
                }));
      }
    }
    for (Thread thread : threads) {
      assertThat(thread.join(Duration.ofSeconds(100))).isTrue();
    }
    assertThat(failures).isEmpty();
    assertThat(sessions).hasSize(1);
  }

  @Test
  void largeContentArrivesUnchanged() throws IOException {
    byte[] content = new byte[20_000_000];
    new Random(1).nextBytes(content);
    peer.files().write("large", new ByteArrayInputStream(content), WriteOptions.DEFAULT);
    try (InputStream in = peer.files().read("large", ReadRange.ALL)) {
      assertThat(in.readAllBytes()).isEqualTo(content);
    }
    ExecResult result =
        peer.run(Command.shell("cat large"), new OutputLimit(content.length, 1_000));
    assertThat(result.stdout().head().toArray()).isEqualTo(content);
  }

  @Test
  void watchesAndUsageWork() {
    peer.files().makeFolder("watched", 0755);
    try (Watch watch = peer.as(Watching.class).orElseThrow().watch("watched", true)) {
      agent.sandbox.files().writeText("watched/file", "x", UTF_8);
      assertThat(watch.next(Duration.ofSeconds(10))).isPresent();
    }
    assertThat(peer.as(UsageReporting.class).orElseThrow().usage().uptime()).isPositive();
  }

  @Test
  void commandContinuesWithoutItsPeerAndLosesNoOutput() {
    Execution execution =
        peer.start(Command.shell("for i in 1 2 3 4 5 6; do echo $i; sleep 0.2; done"));
    close(sessions.getFirst());
    StringBuilder text = new StringBuilder();
    execution.read().ifPresent(first -> text.append(text(first)));
    for (var next = execution.read(); next.isPresent(); next = execution.read()) {
      text.append(text(next.get()));
    }
    assertThat(text.toString()).isEqualTo("1\n2\n3\n4\n5\n6\n");
    assertThat(execution.await()).isEqualTo(new Exit.Exited(0));
    assertThat(sessions.size()).isGreaterThan(1);
    assertThat(agent.sandbox.as(Attaching.class).orElseThrow().executions()).hasSize(1);
  }

  @Test
  void peerConnectsAgainAfterTheServerLostTheAgent() {
    Execution execution = peer.start(Command.shell("sleep 1; echo done"));
    agent.sandbox.client().connection().simulateDrop();
    assertThat(execution.await()).isEqualTo(new Exit.Exited(0));
    assertThat(peer.run(Command.shell("echo again")).stdout().text()).isEqualTo("again\n");
  }

  @Test
  void peerLearnsThatTheSandboxIsGone() {
    Execution execution = peer.start(Command.shell("sleep 60"));
    agent.sandbox.shutdown();
    assertThat(execution.await()).isInstanceOf(Exit.Lost.class);
    assertThatThrownBy(() -> peer.run(Command.shell("true"))).isInstanceOf(Gone.class);
  }

  @Test
  void ownerOperationsAreRefused() {
    assertThatThrownBy(peer::shutdown).isInstanceOf(Unsupported.class);
    assertThatThrownBy(() -> peer.as(Renewing.class).orElseThrow().renew(Duration.ofMillis(1)))
        .isInstanceOf(Unsupported.class);
    assertThatThrownBy(() -> peer.hold(Duration.ofSeconds(1))).isInstanceOf(SandboxException.class);
    assertThat(agent.sandbox.run(Command.shell("echo alive")).stdout().text()).isEqualTo("alive\n");
  }

  @Test
  void peerWithoutTheSecretGetsNothing() {
    try (AgentSandbox stranger = peer(BootRecord.newSecret())) {
      assertThatThrownBy(() -> stranger.run(Command.shell("true")))
          .isInstanceOf(SandboxException.class);
    }
    assertThat(agent.sandbox.run(Command.shell("echo alive")).stdout().text()).isEqualTo("alive\n");
  }

  @Test
  void hostileFramesEndOnlyTheSession() throws Exception {
    byte[][] hostile = {
      new byte[] {(byte) 0x7f, 0, 0, 0, 16, 0, 0, 0, 1}, // a huge length
      Wire.frame(Wire.REQUEST, 1, new byte[] {1}), // before the handshake
      Wire.frame(Wire.HELLO, 0, new byte[] {1, 2, 3}), // not fields
      Wire.frame(99, 0),
      new byte[64]
    };
    for (byte[] bytes : hostile) {
      PortDialing.Connection session =
          agent.sandbox.guestProtocol().orElseThrow().open(PEER_SECRET);
      assertThatThrownBy(() -> session.write(ByteBuffer.wrap(bytes)))
          .isInstanceOf(IOException.class);
      assertThat(session.isOpen()).isFalse();
    }
    assertThat(agent.sandbox.run(Command.shell("echo alive")).stdout().text()).isEqualTo("alive\n");
  }

  @Test
  void peerThatDoesNotReadDoesNotFillTheMemory() throws Exception {
    peer.files().writeText("marker", "x", UTF_8);
    PeerOutput output = new PeerOutput(Duration.ofMillis(200));
    byte[] frame = new byte[256 * 1024];
    int accepted = 0;
    while (output.put(frame)) {
      accepted++;
    }
    assertThat(accepted).isBetween(4, 5);
    assertThat(output.read(ByteBuffer.allocate(frame.length))).isEqualTo(frame.length);
    assertThat(output.put(frame)).isTrue();
  }

  @Test
  void closedSessionLeavesNoStream() {
    Execution execution = peer.start(Command.shell("sleep 60"));
    peer.close();
    await()
        .atMost(Duration.ofSeconds(10))
        .until(() -> agent.sandbox.client().connection().openStreams() == 0);
    assertThat(agent.sandbox.as(Attaching.class).orElseThrow().executions())
        .anyMatch(one -> one.id().equals(execution.id()) && one.exit().isEmpty());
  }

  private static void close(PortDialing.Connection session) {
    try {
      session.close();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static String text(dev.isola.spi.exec.Output output) {
    return output instanceof dev.isola.spi.exec.Output.Data data
        ? new String(data.bytes().toArray(), UTF_8)
        : "GAP";
  }
}
