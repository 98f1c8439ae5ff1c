package dev.isola.link;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.spi.capability.Attaching;
import dev.isola.spi.error.Gone;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.error.ProviderUnavailable;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Output;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Accepting connections, with the real agent as the one that dials. */
@Timeout(60)
class DiallingAgentTest {
  private static final Duration SHORT = Duration.ofSeconds(1);

  @TempDir Path folder;
  private RealAgent agent;

  @BeforeEach
  void start() throws IOException {
    agent = RealAgent.dialling();
  }

  @AfterEach
  void stop() throws IOException {
    agent.close();
  }

  private static String run(AgentSandbox sandbox, String script) {
    return sandbox.run(Command.shell(script)).stdout().text();
  }

  private static String text(Execution execution) {
    StringBuilder all = new StringBuilder();
    for (Optional<Output> next = execution.read(); next.isPresent(); next = execution.read()) {
      if (next.get() instanceof Output.Data data) {
        all.append(data.bytes().utf8());
      }
    }
    return all.toString();
  }

  private SocketChannel dial() throws IOException {
    SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
    channel.connect(UnixDomainSocketAddress.of(agent.socket));
    return channel;
  }

  @Test
  void commandRunsOverADialledConnection() {
    assertThat(run(agent.sandbox, "echo here")).isEqualTo("here\n");
  }

  @Test
  void peerIsAuthenticatedWithoutACall() throws IOException {
    Path socket = folder.resolve("agent");
    UnixSocketAcceptor acceptor = UnixSocketAcceptor.bind(socket, path -> {}, () -> true);
    try (AgentSandbox _ = AgentSandbox.builder(agent.id, acceptor, agent.secret).build();
        SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      channel.connect(UnixDomainSocketAddress.of(socket));
      new FakePeer(channel, agent.secret).completeHandshake();
    }
  }

  @Test
  void commandContinuesOverALostConnection() throws IOException {
    Execution execution =
        agent.sandbox.start(
            Command.shell("for i in 1 2 3; do echo $i; read x; done; exit 5").withStdin());
    assertThat(execution.read()).isPresent();
    agent.sandbox.client().connection().simulateDrop();
    Execution again = agent.sandbox.as(Attaching.class).orElseThrow().attach(execution.id(), 2);
    again.stdin().write("\n\n\n".getBytes(UTF_8));
    assertThat(text(execution)).isEqualTo("2\n3\n");
    assertThat(execution.await()).isEqualTo(new Exit.Exited(5));
  }

  @Test
  void commandContinuesWhileNoServerListens() throws IOException {
    Execution execution =
        agent.sandbox.start(
            Command.shell("echo first; while [ ! -e go ]; do sleep 0.01; done; exit 4"));
    assertThat(execution.read()).isPresent();
    agent.sandbox.close();
    Files.writeString(agent.root.resolve("go"), "");
    try (AgentSandbox later = agent.connect(LinkTimeouts.DEFAULT)) {
      Execution attached = later.as(Attaching.class).orElseThrow().attach(execution.id(), 0);
      assertThat(text(attached)).isEqualTo("first\n");
      assertThat(attached.await()).isEqualTo(new Exit.Exited(4));
    }
  }

  @Test
  void serverThatBindsTheSocketAnewTakesOver() throws IOException {
    assertThat(run(agent.sandbox, "echo 1")).isEqualTo("1\n");
    try (AgentSandbox later = agent.connect(LinkTimeouts.DEFAULT)) {
      assertThat(run(later, "echo 2")).isEqualTo("2\n");
      await().until(() -> !agent.sandbox.client().isConnected());
      assertThat(run(agent.sandbox, "echo 3"))
          .as("the first server, which needs it")
          .isEqualTo("3\n");
      assertThat(run(later, "echo 4")).isEqualTo("4\n");
    }
  }

  @Test
  void peersWithoutTheSecretNeitherReplaceNorDelayTheAgent() throws IOException {
    List<SocketChannel> hostile = new ArrayList<>();
    try {
      assertThat(run(agent.sandbox, "echo 1")).isEqualTo("1\n");
      for (int i = 0; i < 20; i++) {
        SocketChannel channel = dial();
        hostile.add(channel);
        if (i % 2 == 0) {
          channel.write(ByteBuffer.wrap("\0\0\0\1garbage".getBytes(UTF_8)));
        }
      }
      assertThat(run(agent.sandbox, "echo 2")).isEqualTo("2\n");
      agent.sandbox.client().connection().simulateDrop();
      assertThat(run(agent.sandbox, "echo 3")).isEqualTo("3\n");
    } finally {
      for (SocketChannel channel : hostile) {
        channel.close();
      }
    }
  }

  @Test
  void killedAgentIsGone() {
    assertThat(run(agent.sandbox, "echo 1")).isEqualTo("1\n");
    ProcessHandle.of(agent.pid).ifPresent(ProcessHandle::destroyForcibly);
    await().until(() -> !agent.alive());
    assertThatThrownBy(() -> run(agent.sandbox, "echo 2")).isInstanceOf(Gone.class);
  }

  @Test
  void liveAgentThatDoesNotDialIsUnavailableAndNotGone() throws IOException {
    Path socket = folder.resolve("agent");
    UnixSocketAcceptor acceptor = UnixSocketAcceptor.bind(socket, path -> {}, () -> true);
    try (AgentSandbox silent =
        AgentSandbox.builder(agent.id, acceptor, agent.secret)
            .timeouts(LinkTimeouts.DEFAULT.withConnectTimeout(SHORT))
            .build()) {
      assertThatThrownBy(silent::connect)
          .isInstanceOf(ProviderUnavailable.class)
          .hasMessageContaining("has not dialled");
    }
  }

  @Test
  void closedAcceptorLeavesTheSocketOfItsSuccessor() throws IOException {
    Path socket = folder.resolve("agent");
    UnixSocketAcceptor first = UnixSocketAcceptor.bind(socket, path -> {}, () -> true);
    UnixSocketAcceptor second = UnixSocketAcceptor.bind(socket, path -> {}, () -> true);
    first.close();
    assertThat(socket).exists();
    second.close();
  }

  @Test
  void socketIsAccessibleBeforeItIsVisible() throws IOException {
    Path socket = folder.resolve("agent");
    List<Boolean> visible = new ArrayList<>();
    UnixSocketAcceptor.bind(socket, path -> visible.add(Files.exists(socket)), () -> true).close();
    assertThat(visible).containsExactly(false);
  }

  @Test
  void pathThatIsTooLongIsRejected() {
    Path socket = folder.resolve("x".repeat(100));
    assertThatThrownBy(() -> UnixSocketAcceptor.bind(socket, path -> {}, () -> true))
        .isInstanceOf(InvalidRequest.class);
  }
}
