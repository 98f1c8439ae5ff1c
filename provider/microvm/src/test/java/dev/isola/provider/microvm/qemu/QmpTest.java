package dev.isola.provider.microvm.qemu;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The control connection, against a peer that speaks QMP. */
class QmpTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final Duration SHORT = Duration.ofMillis(200);
  private static final String GREETING = "{\"QMP\": {\"version\": {}}}";
  private static final String OK = "{\"return\": {}}";
  private static final String RESUMED = "{\"event\": \"RESUME\"}";

  @TempDir Path folder;

  private final List<String> received = new CopyOnWriteArrayList<>();

  private Path socket() {
    return folder.resolve("control");
  }

  /** Reads so many commands before it says anything, then says these lines, then more when told. */
  private ServerSocketChannel listen(int commands, List<String> lines, CountDownLatch more)
      throws IOException {
    ServerSocketChannel listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    listener.bind(UnixDomainSocketAddress.of(socket()));
    Thread.ofVirtual()
        .start(
            () -> {
              try (SocketChannel peer = listener.accept()) {
                BufferedReader in = new BufferedReader(Channels.newReader(peer, UTF_8));
                for (int i = 0; i < commands; i++) {
                  received.add(in.readLine());
                }
                for (String line : lines) {
                  peer.write(ByteBuffer.wrap((line + "\n").getBytes(UTF_8)));
                }
                more.await();
                peer.write(ByteBuffer.wrap((RESUMED + "\n").getBytes(UTF_8)));
                in.readLine();
              } catch (IOException | InterruptedException ended) {
                // The client has hung up.
              }
            });
    return listener;
  }

  @Test
  void loadSendsAllCommandsAtOnceAndReturnsWhenTheMachineRuns() throws Exception {
    CountDownLatch resume = new CountDownLatch(1);
    try (ServerSocketChannel _ = listen(3, List.of(GREETING, OK, OK, OK), resume);
        Qmp qmp = Qmp.connect(socket())) {
      FutureTask<Boolean> load =
          new FutureTask<>(
              () -> {
                qmp.load(3, false, TIMEOUT);
                return true;
              });
      Thread.ofVirtual().start(load);
      assertThatThrownBy(() -> load.get(SHORT.toMillis(), TimeUnit.MILLISECONDS))
          .isInstanceOf(java.util.concurrent.TimeoutException.class);
      resume.countDown();
      assertThat(load.get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
    }
    assertThat(received).hasSize(3);
    assertThat(received.get(0)).contains("qmp_capabilities");
    assertThat(received.get(1)).contains("migrate-set-capabilities");
    assertThat(received.get(2)).contains("migrate-incoming");
  }

  @Test
  void loadAcceptsAMachineThatRunsBeforeTheAnswer() throws Exception {
    List<String> lines = List.of(GREETING, OK, OK, RESUMED, OK);
    try (ServerSocketChannel _ = listen(3, lines, new CountDownLatch(1));
        Qmp qmp = Qmp.connect(socket())) {
      qmp.load(3, false, TIMEOUT);
    }
  }

  @Test
  void errorNamesTheCommandThatQemuRefused() throws Exception {
    String error = "{\"error\": {\"class\": \"GenericError\", \"desc\": \"unknown capability\"}}";
    try (ServerSocketChannel _ =
            listen(3, List.of(GREETING, OK, error, OK), new CountDownLatch(1));
        Qmp qmp = Qmp.connect(socket())) {
      assertThatThrownBy(() -> qmp.load(3, false, TIMEOUT))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("migrate-set-capabilities")
          .hasMessageContaining("unknown capability");
    }
  }

  @Test
  void resultIsThatOfTheLastCommand() throws Exception {
    String status = "{\"return\": {\"status\": \"running\"}}";
    try (ServerSocketChannel _ = listen(2, List.of(GREETING, OK, status), new CountDownLatch(1));
        Qmp qmp = Qmp.connect(socket())) {
      assertThat(qmp.execute("query-status", Map.of(), TIMEOUT)).containsEntry("status", "running");
    }
  }

  @Test
  void machineThatDoesNotContinueFailsAtTheDeadline() throws Exception {
    try (ServerSocketChannel _ = listen(3, List.of(GREETING, OK, OK, OK), new CountDownLatch(1));
        Qmp qmp = Qmp.connect(socket())) {
      assertThatThrownBy(() -> qmp.load(3, false, SHORT)).isInstanceOf(IOException.class);
    }
  }
}
