package dev.isola.link;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.conformance.UniqueResources;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.capability.Renewing;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.capability.Watching;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Gone;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.file.FileChange;
import dev.isola.spi.file.ReadRange;
import dev.isola.spi.file.Watch;
import dev.isola.spi.file.WriteOptions;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Watches, ports, usage and deadlines with the real agent. */
@Timeout(60)
class RealAgentServicesTest {
  private static final Duration SECONDS = Duration.ofSeconds(10);
  private static RealAgent agent;

  @BeforeAll
  static void start() throws IOException {
    agent = new RealAgent();
  }

  @AfterAll
  static void stop() throws IOException {
    agent.close();
  }

  @Test
  void watchReportsChanges() {
    agent.sandbox.files().makeFolder("watched", 0755);
    try (Watch watch = agent.sandbox.as(Watching.class).orElseThrow().watch("watched", true)) {
      assertThat(watch.next(Duration.ofMillis(1))).isEmpty();
      agent.sandbox.files().makeFolder("watched/sub", 0755);
      expect(watch, FileChange.Kind.CREATED, "sub");
      agent.sandbox.files().writeText("watched/sub/file", "x", UTF_8);
      expect(watch, FileChange.Kind.MOVED_TO, "file");
      agent.sandbox.run(Command.shell("echo y >> watched/sub/file; rm watched/sub/file"));
      expect(watch, FileChange.Kind.REMOVED, "file");
      assertThat(watch.ended()).isFalse();
      agent.sandbox.files().remove("watched", true);
      expect(watch, FileChange.Kind.ROOT_GONE, "");
      assertThat(watch.ended()).isTrue();
      assertThat(watch.next(SECONDS)).isEmpty();
    }
    assertThatThrownBy(() -> agent.sandbox.as(Watching.class).orElseThrow().watch("none", false))
        .isInstanceOf(NotFound.class);
  }

  @Test
  void drainReturnsEveryEarlierChange() {
    agent.sandbox.files().makeFolder("drained", 0755);
    try (Watch watch = agent.sandbox.as(Watching.class).orElseThrow().watch("drained", true)) {
      assertThat(watch.drain(10)).isEmpty();
      for (int i = 0; i < 300; i++) {
        agent.sandbox.files().writeText("drained/" + i, "x", UTF_8);
        String name = "/" + i;
        assertThat(watch.drain(100)).anyMatch(change -> change.path().endsWith(name));
      }
      assertThat(watch.drain(100)).isEmpty();
      agent.sandbox.run(Command.shell("cd drained; for i in 1 2 3 4 5 6; do mkdir new-$i; done"));
      assertThat(watch.drain(4)).hasSize(4);
      assertThat(watch.next(SECONDS)).isPresent();
      assertThat(watch.drain(100)).hasSize(1);
      assertThat(watch.next(Duration.ofMillis(1))).isEmpty();
      agent.sandbox.files().remove("drained", true);
      assertThat(watch.drain(10_000)).anyMatch(it -> it.kind() == FileChange.Kind.ROOT_GONE);
      assertThat(watch.drain(10)).isEmpty();
    }
  }

  private static void expect(Watch watch, FileChange.Kind kind, String name) {
    List<FileChange> seen = new ArrayList<>();
    while (true) {
      FileChange change =
          watch
              .next(SECONDS)
              .orElseThrow(() -> new AssertionError("no " + kind + " of " + name + " in " + seen));
      seen.add(change);
      if (change.kind() == kind && change.path().endsWith(name)) {
        return;
      }
    }
  }

  @Test
  void dialTransfersBothWays() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      Thread echo =
          Thread.ofVirtual()
              .start(
                  () -> {
                    try (Socket socket = server.accept()) {
                      byte[] all = socket.getInputStream().readAllBytes();
                      socket.getOutputStream().write(all);
                      socket.getOutputStream().write("bye".getBytes(UTF_8));
                    } catch (IOException e) {
                      throw new AssertionError(e);
                    }
                  });
      try (PortDialing.Connection connection =
          agent.sandbox.as(PortDialing.class).orElseThrow().dial(server.getLocalPort())) {
        byte[] content = "abc".repeat(500_000).getBytes(UTF_8);
        connection.write(ByteBuffer.wrap(content));
        connection.shutdownOutput();
        assertThat(readAll(connection)).hasSize(content.length + 3);
        assertThat(connection.isOpen()).isTrue();
      }
      echo.join();
    }
  }

  @Test
  void closeDeliversEverythingWritten() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      byte[] content = "abc".repeat(1_000_000).getBytes(UTF_8);
      PortDialing ports = agent.sandbox.as(PortDialing.class).orElseThrow();
      PortDialing.Connection connection = ports.dial(server.getLocalPort());
      Thread writer =
          Thread.ofVirtual()
              .start(
                  () -> {
                    try {
                      connection.write(ByteBuffer.wrap(content));
                      connection.close();
                    } catch (IOException e) {
                      throw new AssertionError(e);
                    }
                  });
      try (Socket socket = server.accept()) {
        assertThat(socket.getInputStream().readAllBytes()).hasSize(content.length);
      }
      writer.join();
      assertThat(connection.isOpen()).isFalse();
    }
  }

  @Test
  void dialingAClosedPortFails() throws IOException {
    try (Socket unanswered = UniqueResources.bindUnansweredPort()) {
      PortDialing ports = agent.sandbox.as(PortDialing.class).orElseThrow();
      assertThatThrownBy(() -> ports.dial(unanswered.getLocalPort()))
          .isInstanceOfSatisfying(
              NotFound.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.PORT_NOT_OPEN));
    }
  }

  private static byte[] readAll(PortDialing.Connection connection) throws IOException {
    ByteBuffer all = ByteBuffer.allocate(4_000_000);
    while (connection.read(all) >= 0) {
      // Until the peer's end of stream.
    }
    return java.util.Arrays.copyOf(all.array(), all.position());
  }

  @Test
  void relaysConnectionsOutOfTheSandbox() throws Exception {
    int port = UniqueResources.reservePort();
    CountDownLatch handled = new CountDownLatch(20);
    AutoCloseable relay =
        agent.sandbox.relay(
            port,
            connection -> {
              try {
                byte[] question = readAll(connection);
                connection.write(ByteBuffer.wrap(question));
                connection.write(ByteBuffer.wrap("!".getBytes(UTF_8)));
                connection.shutdownOutput();
                handled.countDown();
              } catch (IOException e) {
                throw new AssertionError(e);
              }
            });
    List<Thread> callers = new ArrayList<>();
    List<String> answers = java.util.Collections.synchronizedList(new ArrayList<>());
    for (int i = 0; i < 20; i++) {
      String text = "question " + i;
      callers.add(
          Thread.ofVirtual()
              .start(
                  () -> {
                    try (Socket socket = new Socket()) {
                      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
                      socket.getOutputStream().write(text.getBytes(UTF_8));
                      socket.shutdownOutput();
                      answers.add(new String(socket.getInputStream().readAllBytes(), UTF_8));
                    } catch (IOException e) {
                      answers.add(e.toString());
                    }
                  }));
    }
    for (Thread caller : callers) {
      caller.join();
    }
    handled.await();
    assertThat(answers).hasSize(20).allMatch(a -> a.matches("question \\d+!"));
    relay.close();
    await()
        .until(
            () -> {
              try (Socket socket = new Socket()) {
                socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
                return false;
              } catch (IOException e) {
                return true;
              }
            });
    assertThat(agent.sandbox.ping()).isPositive();
  }

  @Test
  void usageIsMeasured() {
    agent.sandbox.files().writeText("some", "x".repeat(100_000), UTF_8);
    UsageReporting.Usage usage = agent.sandbox.as(UsageReporting.class).orElseThrow().usage();
    assertThat(usage.uptime()).isPositive();
    assertThat(usage.memoryBytes()).isNotNegative();
    assertThat(usage.diskBytes()).isPresent();
    assertThat(usage.diskBytes().orElseThrow()).isGreaterThanOrEqualTo(100_000);
  }

  @Test
  void agentEndsAtItsDeadline() throws IOException {
    try (RealAgent other = new RealAgent()) {
      Execution execution = other.sandbox.start(Command.argv("sleep", "67"));
      other.sandbox.as(Renewing.class).orElseThrow().renew(Duration.ofMillis(300));
      assertThat(execution.await()).isInstanceOf(Exit.class);
      await().until(() -> !other.alive());
      await().until(() -> other.sandbox.state() == SandboxState.DESTROYED);
      assertThatThrownBy(() -> other.sandbox.run(Command.argv("true"))).isInstanceOf(Gone.class);
    }
  }

  @Test
  void deadlineIsRenewed() throws IOException {
    try (RealAgent other = new RealAgent(record -> record.deadline(Duration.ofSeconds(1)))) {
      other.sandbox.as(Renewing.class).orElseThrow().renew(Duration.ofMinutes(1));
      assertThat(other.sandbox.run(Command.argv("sleep", "1.3")).succeeded()).isTrue();
    }
  }

  @Test
  void agentEndsAfterItsLingerTime() throws IOException {
    try (RealAgent other = new RealAgent(record -> record.linger(Duration.ofMillis(300)))) {
      other.sandbox.ping();
      other.sandbox.close();
      await().until(() -> !other.alive());
    }
  }

  @Test
  void servesOverStandardInputAndOutput() throws Exception {
    java.nio.file.Path binary =
        AgentBinary.install(
            java.nio.file.Path.of(System.getProperty("java.io.tmpdir"), "isola-link-test"));
    Process process =
        new ProcessBuilder(binary.toString(), "--stdio", "--sandbox", "stdio")
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    OutputStream out = process.getOutputStream();
    out.write(
        BootRecord.builder(FakeAgent.ID, agent.secret).linger(Duration.ZERO).build().encode());
    out.flush();
    AgentChannel channel =
        new StreamAgentChannel(process.getInputStream(), out, process::destroyForcibly);
    AgentSandbox sandbox =
        AgentSandbox.builder(FakeAgent.ID, StreamAgentChannel.singleUse(channel), agent.secret)
            .build();
    assertThat(sandbox.run(Command.shell("echo over stdio")).stdout().text())
        .isEqualTo("over stdio\n");
    byte[] large = new byte[1_000_003];
    new Random(5).nextBytes(large);
    String file = agent.root.resolve("over-stdio").toString();
    sandbox.files().write(file, new ByteArrayInputStream(large), WriteOptions.DEFAULT);
    try (InputStream in = sandbox.files().read(file, ReadRange.ALL)) {
      assertThat(in.readAllBytes()).isEqualTo(large);
    }
    AgentConnection connection = sandbox.client().connection();
    sandbox.close();
    await().until(() -> connection.threads().stream().noneMatch(Thread::isAlive));
    process.waitFor();
  }
}
