package dev.isola.app.servers;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Connections to a server that stay open. */
final class OpenConnections implements AutoCloseable {
  private static final byte[] REQUEST =
      "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

  private final List<Socket> sockets = new ArrayList<>();

  void open(int port, int count) throws IOException {
    for (int i = 0; i < count; i++) {
      sockets.add(new Socket(InetAddress.getLoopbackAddress(), port));
    }
    for (Socket socket : sockets) {
      socket.setSoTimeout(60_000);
      send(socket);
    }
  }

  /** Sends a request and returns the beginning of the response. */
  static String send(Socket socket) throws IOException {
    socket.getOutputStream().write(REQUEST);
    StringBuilder head = new StringBuilder();
    int next = socket.getInputStream().read();
    while (next >= 0) {
      head.append((char) next);
      if (head.toString().endsWith("\r\n\r\n")) {
        break;
      }
      next = socket.getInputStream().read();
    }
    int length =
        head.toString()
            .lines()
            .filter(line -> line.startsWith("Content-Length: "))
            .mapToInt(line -> Integer.parseInt(line.substring(16)))
            .sum();
    head.append(new String(socket.getInputStream().readNBytes(length), StandardCharsets.US_ASCII));
    return head.toString();
  }

  /** Sends requests on an open connection until the server refuses one, and returns its answer. */
  static String awaitRefusal(Socket socket, Duration timeout) {
    return await()
        .atMost(timeout)
        .pollInterval(Duration.ofMillis(20))
        .until(() -> send(socket), answer -> !answer.startsWith("HTTP/1.1 200"));
  }

  @Override
  public void close() throws IOException {
    for (Socket socket : sockets) {
      socket.close();
    }
  }
}
