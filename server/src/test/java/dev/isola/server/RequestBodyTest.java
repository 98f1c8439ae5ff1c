package dev.isola.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A client whose request body is rejected early sees the response, not a reset connection; one that
 * waits for permission to send its body receives it.
 */
@Timeout(120)
class RequestBodyTest {
  private static final String SANDBOXES = "/api/v1/sandboxes";
  private static final int ROUNDS = 20;

  /** More than the buffers of the kernel hold, so that a client is still sending. */
  private static final byte[] BODY = "x".repeat(8 << 20).getBytes(UTF_8);

  @TempDir static Path folder;
  private static TestServer server;

  @BeforeAll
  static void start() {
    server = new TestServer(folder, Duration.ofSeconds(2));
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static byte[] head(String method, String path, String key, String... headers) {
    return (method
            + " "
            + path
            + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
            + key
            + "\r\n"
            + String.join("\r\n", headers)
            + "\r\n\r\n")
        .getBytes(ISO_8859_1);
  }

  private static Socket connect() throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.server.port());
    socket.setSoTimeout(30_000);
    return socket;
  }

  private static String read(Socket socket, int status) throws IOException {
    TestClient.OpenResponse response = TestClient.read(socket);
    String body = new String(response.body().readAllBytes(), UTF_8);
    assertThat(response.status()).as(body).isEqualTo(status);
    return body;
  }

  /** Sends everything before it reads anything; an error while sending fails the test. */
  private static String sendAll(byte[] head, byte[] body, int status) throws IOException {
    try (Socket socket = connect()) {
      socket.getOutputStream().write(head);
      socket.getOutputStream().write(body);
      return read(socket, status);
    }
  }

  @Test
  void clientThatSendsEverythingFirstSeesTheResponse() throws IOException {
    String length = "Content-Length: " + BODY.length;
    ByteArrayOutputStream chunked = new ByteArrayOutputStream();
    chunked.writeBytes((Integer.toHexString(BODY.length) + "\r\n").getBytes(UTF_8));
    chunked.writeBytes(BODY);
    chunked.writeBytes("\r\n0\r\n\r\n".getBytes(UTF_8));
    for (int i = 0; i < ROUNDS; i++) {
      assertThat(sendAll(head("POST", SANDBOXES, server.admin, length), BODY, 400))
          .contains("the body is larger than 1048576 bytes");
      assertThat(
              sendAll(
                  head("POST", SANDBOXES, server.admin, "Transfer-Encoding: chunked"),
                  chunked.toByteArray(),
                  400))
          .contains("the body is larger than 1048576 bytes");
      String file = SANDBOXES + "/missing/files/content?path=x";
      assertThat(sendAll(head("PUT", file, "no-key", length), BODY, 401))
          .contains("UNAUTHENTICATED");
      assertThat(sendAll(head("PUT", file, server.admin, length), BODY, 404))
          .contains("SANDBOX_NOT_FOUND");
      assertThat(sendAll(head("GET", "/healthz", server.admin, length), BODY, 200)).isNotEmpty();
    }
  }

  @Test
  void javaHttpClientSeesTheResponse() throws Exception {
    try (HttpClient http = HttpClient.newHttpClient()) {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create(server.server.url() + SANDBOXES))
              .header("Authorization", "Bearer " + server.admin)
              .POST(BodyPublishers.ofByteArray(BODY))
              .build();
      for (int i = 0; i < ROUNDS; i++) {
        HttpResponse<String> response = http.send(request, BodyHandlers.ofString());
        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.body()).contains("the body is larger than 1048576 bytes");
      }
    }
  }

  @Test
  void connectionIsReusedAfterABodyThatWasReadCompletely() throws IOException {
    try (Socket socket = connect()) {
      for (int size : List.of(10, 50_000, 500_000)) {
        byte[] body = ("{\"unknown\":\"" + "x".repeat(size) + "\"}").getBytes(UTF_8);
        OutputStream out = socket.getOutputStream();
        out.write(head("POST", SANDBOXES, server.admin, "Content-Length: " + body.length));
        out.write(body);
        assertThat(read(socket, 400)).contains("unknown");
      }
    }
  }

  @Test
  void rejectedRequestThatAwaitsPermissionToSendIsAnsweredAtOnce() throws IOException {
    byte[] head =
        head(
            "PUT",
            SANDBOXES + "/missing/files/content?path=x",
            "no-key",
            "Expect: 100-continue",
            "Content-Length: 9000000");
    assertThat(sendAll(head, new byte[0], 401)).contains("UNAUTHENTICATED");
  }

  @Test
  void acceptedRequestIsPermittedToSendItsBody() throws IOException {
    String sandbox = server.client().post(SANDBOXES, "{}").field("id");
    try (Socket socket = connect()) {
      OutputStream out = socket.getOutputStream();
      String expect = "Expect: 100-continue";
      for (String path : List.of("/files/content?path=x", "/files/content?path=y")) {
        out.write(
            head(
                "PUT",
                SANDBOXES + "/" + sandbox + path,
                server.admin,
                expect,
                "Content-Length: 3"));
        assertThat(socket.getInputStream().readNBytes(25))
            .asString(UTF_8)
            .isEqualTo("HTTP/1.1 100 Continue\r\n\r\n");
        out.write("abc".getBytes(UTF_8));
        assertThat(read(socket, 200)).contains("\"size\":3");
      }
      out.write(head("POST", SANDBOXES, server.admin, expect, "Content-Length: " + BODY.length));
      assertThat(socket.getInputStream().readNBytes(25)).asString(UTF_8).contains("100 Continue");
      out.write(BODY);
      assertThat(read(socket, 400)).contains("the body is larger than 1048576 bytes");
    }
  }

  @Test
  void endlessBodyIsCut() throws IOException {
    long sent = 0;
    try (Socket socket = connect()) {
      OutputStream out = socket.getOutputStream();
      out.write(head("POST", SANDBOXES, server.admin, "Content-Length: " + Long.MAX_VALUE / 2));
      while (sent <= 2 * RequestBodyDrain.MAX_REST) {
        out.write(BODY);
        sent += BODY.length;
      }
    } catch (IOException e) {
      // The server has closed the connection.
    }
    assertThat(sent).isGreaterThan(1 << 20).isLessThan(2 * RequestBodyDrain.MAX_REST);
  }

  @Test
  void slowBodyIsCut() throws IOException {
    try (Socket socket = connect()) {
      OutputStream out = socket.getOutputStream();
      out.write(head("PUT", SANDBOXES + "/x/files/content", "no-key", "Content-Length: 9000000"));
      assertThat(read(socket, 401)).contains("UNAUTHENTICATED");
      await()
          .atMost(Duration.ofSeconds(30))
          .until(
              () -> {
                try {
                  out.write('x');
                  return false;
                } catch (IOException closed) {
                  return true;
                }
              });
    }
  }
}
