package dev.isola.server;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.server.limit.ClientAddresses;
import dev.isola.server.limit.ConnectionLimits;
import dev.isola.server.limit.RequestLimits;
import dev.isola.spi.spec.AddressBlock;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Connections without a request, or whose heads never end, keep no other client out. */
class HalfOpenRequestsTest {
  private static final String SANDBOXES = "/api/v1/sandboxes";

  @TempDir Path folder;

  private TestServer startServer(ConnectionLimits limits, ClientAddresses clients) {
    return new TestServer(
        folder,
        Duration.ofMinutes(10), // longer than a client waits
        context ->
            new HttpServerOptions(Optional.empty(), RequestLimits.NONE, List.of(), Optional::empty)
                .withConnections(limits, clients),
        Map.of());
  }

  private static void assertServed(ConnectionLimits limits, TestServer testServer)
      throws IOException {
    List<Socket> halfOpen = new ArrayList<>();
    try (TestClient.OpenResponse stream =
        testServer.client().open("GET", "/api/v1/events", Map.of(), new byte[0])) {
      assertThat(stream.status()).isEqualTo(200);
      for (int i = 0; i < 3 * limits.total(); i++) {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), testServer.server.port());
        halfOpen.add(socket);
        socket
            .getOutputStream()
            .write("GET /api/v1/sandboxes HTTP/1.1\r\nHost: localhost\r\n".getBytes(US_ASCII));
      }
      assertThat(testServer.client().get(SANDBOXES).status()).isEqualTo(200);
      testServer.client().post(SANDBOXES, "{}");
      assertThat(stream.body().read()).as("the stream of a key goes on").isPositive();
    } finally {
      for (Socket socket : halfOpen) {
        socket.close();
      }
    }
  }

  @Test
  void halfOpenRequestsOfOneAddressLeaveRoomForOthers() throws IOException {
    ConnectionLimits limits = new ConnectionLimits(40, 30, 10);
    try (TestServer testServer = startServer(limits, ClientAddresses.DIRECT)) {
      assertServed(limits, testServer);
    }
  }

  /** A key that may read, or a token, must not keep an administrator out. */
  @Test
  void idleConnectionsOfAKeyLeaveRoomForOthers() throws Exception {
    ConnectionLimits limits = new ConnectionLimits(20, 15, 0);
    List<Socket> idle = new ArrayList<>();
    try (TestServer testServer = startServer(limits, ClientAddresses.DIRECT)) {
      TestClient admin = testServer.client();
      String sandbox = SANDBOXES + "/" + admin.post(SANDBOXES, "{}").field("id");
      String cat =
          admin
              .post(
                  sandbox + "/executions",
                  "{\"argv\":[\"cat\"],\"terminal\":{\"rows\":24,\"cols\":80}}")
              .field("id");
      try (TerminalClient terminal =
          TerminalClient.open(admin, sandbox + "/executions/" + cat + "/terminal")) {
        terminal.type("before\n").until("before");
        for (int i = 0; i < 2 * limits.total(); i++) {
          idle.add(idleConnection(testServer));
        }
        assertThat(admin.get(SANDBOXES).status()).isEqualTo(200);
        terminal.type("after\n").until("after");
      }
    } finally {
      for (Socket socket : idle) {
        socket.close();
      }
    }
  }

  /** Returns a connection on which a request with a key was answered. */
  private static Socket idleConnection(TestServer testServer) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), testServer.server.port());
    socket
        .getOutputStream()
        .write(
            ("GET /api/v1/sandboxes HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
                    + testServer.read
                    + "\r\n\r\n")
                .getBytes(US_ASCII));
    assertThat(socket.getInputStream().read()).isEqualTo('H');
    return socket;
  }

  /** The limit of one client does not apply to a proxy, as it would not to many addresses. */
  @Test
  void halfOpenRequestsOfManyAddressesLeaveRoomForOthers() throws IOException {
    ConnectionLimits limits = new ConnectionLimits(40, 30, 10);
    ClientAddresses clients =
        new ClientAddresses(AddressBlock.parse("127.0.0.0/8").stream().toList());
    try (TestServer testServer = startServer(limits, clients)) {
      assertServed(limits, testServer);
    }
  }
}
