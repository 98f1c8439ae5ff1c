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

/** E2: who stops reading costs little, and only himself. */
class StalledClientTest {
  private static final Duration SOON = Duration.ofSeconds(60);
  private static final int CLIENTS = 50;
  private static final long MOST = 1 << 20;

  @TempDir Path folder;

  @Test
  void fiftyWhoStopReadingCostAMebibyteEachAndSlowNobody() throws Exception {
    try (TestServer house =
        new TestServer(folder, Duration.ofSeconds(30), new SubprocessProviderFactory())) {
      TestClient client = house.client();
      String sandbox =
          "/api/v1/sandboxes/"
              + client
                  .post("/api/v1/sandboxes", "{\"resources\":{\"processes\":1000}}")
                  .field("id");
      List<Socket> stalled = new ArrayList<>();
      try {
        warmUp(client, sandbox);
        final long before = used();
        for (int i = 0; i < CLIENTS; i++) {
          stalled.add(attach(client, start(client, sandbox, "exec yes 0123456789")));
        }
        heldBack(client, sandbox);
        long each = (used() - before) / CLIENTS;
        assertThat(each).as("bytes for each of them").isLessThan(MOST);

        // The meter would have noticed.
        List<byte[]> planted = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
          planted.add(new byte[(int) MOST]);
        }
        assertThat((used() - before) / planted.size()).isGreaterThan(MOST);

        warmUp(client, sandbox);
      } finally {
        for (Socket one : stalled) {
          one.close();
        }
        client.delete(sandbox + "?force=true");
      }
    }
  }

  /** A terminal that is read comes to its end, whoever else is there. */
  private static void warmUp(TestClient client, String sandbox) throws Exception {
    String execution = start(client, sandbox, "head -c 4000000 /dev/zero; exit 3");
    try (TerminalClient talk = TerminalClient.open(client, execution + "/terminal")) {
      assertThat(talk.closed()).isEqualTo(1000);
      assertThat(talk.offset()).isGreaterThanOrEqualTo(4_000_000); // and what was echoed
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
    return go(client, sandbox + "/executions/" + started.field("id"));
  }

  private static String go(TestClient client, String execution) throws IOException {
    client.send("POST", execution + "/stdin", Map.of(), "\n".getBytes(ISO_8859_1));
    return execution;
  }

  /** Attaches, and never reads. */
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

  /** Waits until nothing is written any more, because nobody who is attached reads. */
  private static void heldBack(TestClient client, String sandbox) {
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
    assertThat(last[0]).as("bytes that were written").isGreaterThan(CLIENTS * 100_000L);
  }

  /** What is held once everything that can go has gone. */
  private static long used() throws InterruptedException {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 5; i++) {
      System.gc();
      Thread.sleep(50); // direct buffers go after those who held them
      long direct =
          ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
              .mapToLong(BufferPoolMXBean::getMemoryUsed)
              .sum();
      least =
          Math.min(
              least, direct + ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
    }
    return least;
  }
}
