package dev.isola.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.provider.subprocess.SubprocessProviderFactory;
import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** E2: a client that stops reading uses little memory and does not affect other clients. */
class StalledClientTest {
  private static final Duration SOON = Duration.ofSeconds(60);
  private static final int CLIENTS = 50;
  private static final long SETTLED_BYTES = 64 << 10;
  private static final long MAX_BYTES = 1 << 20;

  @TempDir Path folder;

  @Test
  void fiftyStalledClientsUseLessThanOneMebibyteEachAndDelayNoOthers() throws Exception {
    try (TestServer testServer =
        new TestServer(folder, Duration.ofSeconds(30), new SubprocessProviderFactory())) {
      TestClient client = testServer.client();
      String sandbox =
          "/api/v1/sandboxes/"
              + client
                  .post("/api/v1/sandboxes", "{\"resources\":{\"processes\":1000}}")
                  .field("id");
      List<Socket> stalled = new ArrayList<>();
      try {
        runTerminal(client, sandbox);
        final long before = usedMemory();
        for (int i = 0; i < CLIENTS; i++) {
          stalled.add(attach(client, start(client, sandbox, "exec yes 0123456789")));
        }
        awaitBlocked(client, sandbox);
        long each = (usedMemory() - before) / CLIENTS;
        assertThat(each).as("bytes per client").isLessThan(MAX_BYTES);

        // Control: the measurement detects this amount of memory.
        List<byte[]> planted = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
          planted.add(new byte[(int) MAX_BYTES]);
        }
        assertThat((usedMemory() - before) / planted.size()).isGreaterThan(MAX_BYTES);

        runTerminal(client, sandbox);
      } finally {
        for (Socket one : stalled) {
          one.close();
        }
        client.delete(sandbox + "?force=true");
      }
    }
  }

  /** Runs a terminal to completion, to show that other clients are not affected. */
  private static void runTerminal(TestClient client, String sandbox) throws Exception {
    String execution = start(client, sandbox, "head -c 4000000 /dev/zero; exit 3");
    try (TerminalClient terminal = TerminalClient.open(client, execution + "/terminal")) {
      assertThat(terminal.closed()).isEqualTo(1000);
      assertThat(terminal.offset()).isGreaterThanOrEqualTo(4_000_000); // plus the echoed input
    }
    assertThat(client.post(sandbox + "/exec", "{\"command\":\"echo hi\"}").text()).contains("hi");
  }

  private static String start(TestClient client, String sandbox, String command)
      throws IOException {
    TestClient.Response started =
        client.post(
            sandbox + "/executions",
            "{\"argv\":[\"/bin/sh\",\"-c\",\"stty raw; read go; "
                + command
                + "\"],\"terminal\":{\"rows\":24,\"cols\":80}}");
    assertThat(started.status()).as(started.text()).isEqualTo(201);
    return sendNewline(client, sandbox + "/executions/" + started.field("id"));
  }

  private static String sendNewline(TestClient client, String execution) throws IOException {
    client.send("POST", execution + "/stdin", Map.of(), "\n".getBytes(ISO_8859_1));
    return execution;
  }

  /** Attaches and never reads. */
  private static Socket attach(TestClient client, String execution) throws IOException {
    Socket socket = new Socket();
    socket.setReceiveBufferSize(4096);
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), client.port()));
    socket
        .getOutputStream()
        .write(
            ("GET "
                    + execution
                    + "/terminal HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
                    + client.key()
                    + "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                    + "Sec-WebSocket-Version: 13\r\n"
                    + "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
                    + "Sec-WebSocket-Protocol: isola.terminal.v1\r\n\r\n")
                .getBytes(ISO_8859_1));
    byte[] head = socket.getInputStream().readNBytes(12);
    assertThat(new String(head, ISO_8859_1)).isEqualTo("HTTP/1.1 101");
    return socket;
  }

  /** Waits until the commands are blocked because no attached client reads. */
  private static void awaitBlocked(TestClient client, String sandbox) {
    long[] last = {-1, 0};
    await()
        .atMost(SOON)
        .until(
            () -> {
              long written = 0;
              for (Map<?, ?> one : client.get(sandbox + "/executions").list("executions")) {
                written += one.get("endOffset") instanceof Number end ? end.longValue() : 0;
              }
              last[1] = written == last[0] ? last[1] + 1 : 0;
              last[0] = written;
              return last[1] >= 5;
            });
    assertThat(last[0]).as("bytes written").isGreaterThan(CLIENTS * 100_000L);
  }

  /** Returns the memory in use when garbage collection frees no more. */
  private static long usedMemory() {
    long[] least = {Long.MAX_VALUE};
    await() // direct buffers are freed after their owners
        .atMost(SOON)
        .until(
            () -> {
              long before = least[0];
              System.gc();
              least[0] = Math.min(before, usedNow());
              return before - least[0] < SETTLED_BYTES;
            });
    return least[0];
  }

  private static long usedNow() {
    long direct =
        ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
            .mapToLong(BufferPoolMXBean::getMemoryUsed)
            .sum();
    return direct + ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }
}
