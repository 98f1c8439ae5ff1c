package dev.isola.provider.bubblewrap;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.EgressAccess.OutboundConnection;
import dev.isola.spi.capability.EgressAccess.Relay;
import dev.isola.spi.capability.EgressAccess.RelayedConnection;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.spec.Egress;
import dev.isola.spi.spec.Network;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Connections of a sandbox whose bytes the relay process copies. */
@Timeout(120)
final class RelayedConnectionTest extends ForkTestBase {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  private static final String CONNECT = "exec 3<>/dev/tcp/web.example/80; ";

  /** How a handler carried a connection, or why it did not. */
  private final BlockingQueue<String> outcomes = new LinkedBlockingQueue<>();

  private final BlockingQueue<RelayedConnection> started = new LinkedBlockingQueue<>();
  private String output = "";
  private Sandbox sandbox;
  private ServerSocket host;
  private volatile int port;
  private Relay relay;

  @BeforeEach
  void create() throws IOException {
    sandbox =
        provider.create(
            SandboxSpec.builder(SandboxId.random(new SecureRandom()))
                .network(Network.filtered(Egress.NONE))
                .build());
    host = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    port = host.getLocalPort();
    relay = sandbox.egress().orElseThrow().open("", Set.of(), this::carry);
  }

  @AfterEach
  void destroy() throws IOException {
    relay.close();
    host.close();
    provider.destroy(sandbox.id(), DestroyOptions.FORCE);
  }

  private void carry(OutboundConnection connection) {
    try {
      InetSocketAddress to = new InetSocketAddress(host.getInetAddress(), port);
      RelayedConnection relayed = connection.connect(to, TIMEOUT).orElse(null);
      if (relayed == null || !relayed.start()) {
        connection.write(ByteBuffer.wrap("frames\n".getBytes(UTF_8)));
        connection.shutdownOutput();
        outcomes.add("frames");
        return;
      }
      started.add(relayed);
      relayed.awaitEnd();
      outcomes.add(relayed.sentBytes() + " " + relayed.receivedBytes());
    } catch (IOException e) {
      outcomes.add(String.valueOf(e.getMessage()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private String outcome() throws InterruptedException {
    return outcomes.poll(20, TimeUnit.SECONDS);
  }

  /** Runs a program in the sandbox while the other host serves its connection. */
  private <T> T exchange(String script, Function<Socket, T> serve) throws Exception {
    List<ExecResult> results = new CopyOnWriteArrayList<>();
    Thread program =
        Thread.startVirtualThread(() -> results.add(sandbox.run(Command.shell(script))));
    try (Socket accepted = host.accept()) {
      T result = serve.apply(accepted);
      program.join();
      output = results.getFirst().stdout().text() + results.getFirst().stderr().text();
      return result;
    }
  }

  @Test
  void bytesTravelBothWaysAndEachSideEndsAlone() throws Exception {
    exchangeQuestionAndAnswer();
  }

  private void exchangeQuestionAndAnswer() throws Exception {
    String request =
        exchange(
            "bash -c '" + CONNECT + "echo question >&3; head -c 300000 /dev/zero >&3; cat <&3'",
            socket -> {
              try {
                byte[] received = socket.getInputStream().readNBytes(300_009);
                socket.getOutputStream().write("answer\n".getBytes(UTF_8));
                socket.shutdownOutput();
                assertThat(socket.getInputStream().read()).isEqualTo(-1);
                return new String(received, 0, 8, UTF_8);
              } catch (IOException e) {
                throw new AssertionError(e);
              }
            });
    assertThat(request).isEqualTo("question");
    assertThat(output).isEqualTo("answer\n");
    assertThat(outcome()).isEqualTo("300009 7");
  }

  @Test
  void closedConnectionIsReset() throws Exception {
    exchange(
        "bash -c '" + CONNECT + "cat <&3'",
        socket -> {
          try {
            started.take().close();
            assertThatThrownBy(() -> socket.getInputStream().read()).hasMessageContaining("reset");
            return "";
          } catch (InterruptedException e) {
            throw new AssertionError(e);
          }
        });
    assertThat(output).contains("reset");
    assertThat(outcome()).isEqualTo("0 0");
  }

  @Test
  void hostThatRefusesIsReported() throws Exception {
    try (Socket unanswered = new Socket()) { // bound, so that no other test takes its port
      unanswered.bind(new InetSocketAddress(host.getInetAddress(), 0));
      port = unanswered.getLocalPort();
      ExecResult result = sandbox.run(Command.shell("bash -c '" + CONNECT + "cat <&3'"));
      assertThat(result.stderr().text()).contains("reset");
      assertThat(outcome()).isEqualTo("Connection refused");
    }
  }

  @Test
  void connectionsOfAKilledProcessEndAndNewOnesUseAnother() throws Exception {
    exchange(
        "bash -c '" + CONNECT + "cat <&3'",
        socket -> {
          try {
            started.take();
            assertThat(relayProcesses()).hasSize(1);
            relayProcesses().forEach(ProcessHandle::destroyForcibly);
            return socket.getInputStream().read();
          } catch (IOException | InterruptedException e) {
            return String.valueOf(e.getMessage());
          }
        });
    assertThat(outcome()).isEqualTo("0 0");
    await().until(() -> relayProcesses().isEmpty());
    Thread accepting = Thread.startVirtualThread(this::acceptAndClose);
    await()
        .atMost(Duration.ofSeconds(20))
        .untilAsserted(
            () -> {
              sandbox.run(Command.shell("bash -c '" + CONNECT + "cat <&3'"));
              assertThat(outcome()).isEqualTo("0 0"); // and not frames
            });
    assertThat(relayProcesses()).hasSize(1);
    host.close();
    accepting.join();
  }

  private void acceptAndClose() {
    while (!host.isClosed()) {
      try {
        host.accept().close();
      } catch (IOException e) {
        // The test has ended.
      }
    }
  }

  @Test
  void withoutTheSocketTheServerCarriesTheConnection() throws Exception {
    exchangeQuestionAndAnswer();
    Files.delete(socketFile());
    exchange(
        "bash -c '" + CONNECT + "cat <&3'",
        socket -> {
          try {
            return socket.getInputStream().read();
          } catch (IOException e) {
            return String.valueOf(e.getMessage());
          }
        });
    assertThat(output).isEqualTo("frames\n");
    assertThat(outcome()).isEqualTo("frames");
  }

  @Test
  void destroyedSandboxLeavesNoConnection() throws Exception {
    sandbox.start(Command.shell("bash -c '" + CONNECT + "cat <&3'"));
    try (Socket accepted = host.accept()) {
      started.take();
      accepted.setSoTimeout(10_000);
      provider.destroy(sandbox.id(), DestroyOptions.FORCE);
      assertThat(end(accepted)).isIn("reset", "end"); // the guest process has ended, too
      assertThat(outcome()).isEqualTo("0 0");
      assertThat(relayProcesses()).isEmpty();
    }
  }

  @Test
  void processEndsWithTheSandbox() throws Exception {
    exchangeQuestionAndAnswer();
    assertThat(relayProcesses()).hasSize(1);
    provider.destroy(sandbox.id(), DestroyOptions.FORCE);
    assertThat(relayProcesses()).isEmpty();
  }

  @Test
  void processEndsWithTheProvider() throws Exception {
    exchangeQuestionAndAnswer();
    provider.close();
    assertThat(relayProcesses()).isEmpty();
    provider = installation.open();
  }

  private static String end(Socket socket) throws IOException {
    try {
      return socket.getInputStream().read() < 0 ? "end" : "data";
    } catch (SocketException e) {
      return "reset";
    }
  }

  private List<ProcessHandle> relayProcesses() {
    return ProcessHandle.current()
        .children()
        .filter(ProcessHandle::isAlive)
        .filter(child -> child.info().commandLine().orElse("").matches(data() + ".* --relay .*"))
        .toList();
  }

  private String data() {
    return installation.data().toString();
  }

  private Path socketFile() throws IOException {
    try (Stream<Path> files = Files.walk(installation.data())) {
      return files.filter(file -> file.endsWith("run/egress")).findFirst().orElseThrow();
    }
  }
}
