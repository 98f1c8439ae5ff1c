package dev.isola.provider.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A backend on a raw socket that misbehaves on one route and is correct on all others. It closes
 * every connection after its answer.
 */
final class LyingServer implements AutoCloseable {
  /** What a route does instead of a correct answer. */
  @FunctionalInterface
  interface Lie {
    void tell(Request request, OutputStream out) throws IOException;
  }

  /** A request with its body. */
  record Request(String line, Map<String, String> headers, String body, Socket connection) {
    String id() {
      return line.replaceAll(".*/v1/sandboxes/([0-9a-z]+).*", "$1");
    }

    /** Waits until the client, or the end of the test, closes the connection. */
    void awaitHangUp() throws IOException {
      connection.getInputStream().transferTo(OutputStream.nullOutputStream());
    }

    /** Returns whether the client closes the connection within {@code time}. */
    boolean isClosedWithin(Duration time) throws IOException {
      connection.setSoTimeout((int) time.toMillis());
      try {
        return connection.getInputStream().read() < 0;
      } catch (SocketTimeoutException open) {
        return false;
      }
    }
  }

  /** Bytes of a complete response. */
  static byte[] response(String status, String type, String body) {
    byte[] content = body.getBytes(UTF_8);
    String head =
        "HTTP/1.1 "
            + status
            + "\r\nContent-Type: "
            + type
            + "\r\nContent-Length: "
            + content.length
            + "\r\nConnection: close\r\n\r\n";
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.writeBytes(head.getBytes(ISO_8859_1));
    all.writeBytes(content);
    return all.toByteArray();
  }

  static Lie answering(String status, String type, String body) {
    return (_, out) -> out.write(response(status, type, body));
  }

  static Lie json(String body) {
    return answering("200 OK", "application/json", body);
  }

  static Lie problem(String status, String code, String detail) {
    return answering(
        status,
        "application/problem+json",
        "{\"code\":\"" + code + "\",\"detail\":\"" + detail + "\"}");
  }

  private final ServerSocket server;
  private final Map<String, Lie> lies = new ConcurrentHashMap<>();
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  final List<Request> received = new CopyOnWriteArrayList<>();
  private String info =
      """
      {"protocol":1,"name":"liar","level":"simple","isolation":"process","startupMs":10,
       "capabilities":["pausing","usage-reporting","renewing","forking"],"pauseKinds":["memory"],
       "health":{"status":"healthy"}}
      """;

  LyingServer() throws IOException {
    this(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()));
  }

  LyingServer(ServerSocket socket) {
    server = socket;
    Thread.ofVirtual().name("liar").start(this::accept);
  }

  String url() {
    return "http://127.0.0.1:" + server.getLocalPort();
  }

  /** Answers {@code info} with this document. */
  LyingServer info(String document) {
    info = document;
    return this;
  }

  String info() {
    return info;
  }

  /**
   * Lies on a route.
   *
   * @param route a method and the end of a path without its query
   */
  LyingServer on(String route, Lie lie) {
    lies.put(route, lie);
    return this;
  }

  private void accept() {
    try {
      while (true) {
        Socket socket = server.accept();
        open.add(socket);
        Thread.ofVirtual().name("liar").start(() -> serve(socket));
      }
    } catch (IOException e) {
      // The test has ended.
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      Request request = read(socket);
      received.add(request);
      answer(request, socket.getOutputStream());
      socket.getOutputStream().flush();
    } catch (IOException e) {
      // The client has closed the connection, as it should.
    } finally {
      open.remove(socket);
    }
  }

  private static Request read(Socket socket) throws IOException {
    InputStream in = socket.getInputStream();
    ByteArrayOutputStream head = new ByteArrayOutputStream();
    while (!head.toString(ISO_8859_1).endsWith("\r\n\r\n")) {
      int next = in.read();
      if (next < 0) {
        throw new IOException("closed");
      }
      head.write(next);
    }
    Map<String, String> headers = new ConcurrentHashMap<>();
    String[] lines = head.toString(ISO_8859_1).split("\r\n");
    for (String line : lines) {
      int colon = line.indexOf(':');
      if (colon > 0) {
        headers.put(
            line.substring(0, colon).toLowerCase(Locale.ROOT), line.substring(colon + 1).strip());
      }
    }
    int length = Integer.parseInt(headers.getOrDefault("content-length", "0"));
    return new Request(lines[0], headers, new String(in.readNBytes(length), UTF_8), socket);
  }

  private void answer(Request request, OutputStream out) throws IOException {
    String line = request.line().replaceAll(" HTTP/1.1$", "").replaceAll("\\?.*", "");
    for (Map.Entry<String, Lie> lie : lies.entrySet()) {
      String[] route = lie.getKey().split(" ");
      if (line.startsWith(route[0] + " ") && line.matches(".*" + route[1])) {
        lie.getValue().tell(request, out);
        return;
      }
    }
    if (line.endsWith("/v1/info")) {
      out.write(response("200 OK", "application/json", info));
    } else if (line.startsWith("PUT") && line.matches(".*/v1/sandboxes/[0-9a-z]+")) {
      out.write(response("201 Created", "application/json", sandbox(request, "")));
    } else if (line.startsWith("DELETE")
        || line.startsWith("PUT")
        || line.matches(".*/(pause|resume|renew)")) {
      out.write("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n".getBytes(ISO_8859_1));
    } else if (line.startsWith("HEAD")) {
      out.write("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".getBytes(ISO_8859_1));
    } else if (line.endsWith("/exec")) {
      out.write(response("200 OK", "application/json", stat("regular file")));
    } else {
      out.write(
          response(
              "404 Not Found",
              "application/problem+json",
              "{\"code\":\"SANDBOX_NOT_FOUND\",\"detail\":\"none\"}"));
    }
  }

  /** Returns what a correct exec answers: the output of the script {@code stat}. */
  static String stat(String type) {
    byte[] output = ("/workspace/f\0" + type + "/644/5/0/0/root/root/0\n").getBytes(UTF_8);
    return "{\"exitCode\":0,\"stdout\":\""
        + Base64.getEncoder().encodeToString(output)
        + "\",\"stderr\":\"\",\"durationMs\":1}";
  }

  /**
   * Returns the description of the sandbox that a create asks for.
   *
   * @param more further fields, each with a comma before it
   */
  static String sandbox(Request create, String more) {
    String instance = create.body().replaceAll("(?s).*\"instance\":\"([^\"]*)\".*", "$1");
    String sandbox = create.body().replaceAll("(?s).*\"sandbox\":\"([^\"]*)\".*", "$1");
    return "{\"id\":\""
        + create.id()
        + "\",\"instance\":\""
        + instance
        + "\",\"sandbox\":\""
        + sandbox
        + "\",\"state\":\"running\",\"createdAt\":\"2026-01-01T00:00:00Z\""
        + more
        + "}";
  }

  @Override
  public void close() throws IOException {
    server.close();
    for (Socket socket : open) {
      socket.close();
    }
  }
}
