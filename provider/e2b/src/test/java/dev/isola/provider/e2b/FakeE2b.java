package dev.isola.provider.e2b;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.spi.Bytes;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A fake of the part of E2B's API that failure tests need: it creates, lists and kills sandboxes,
 * and replaces the responses of planned requests.
 */
final class FakeE2b implements AutoCloseable {
  private static final Pattern METADATA = Pattern.compile("\"metadata\":(\\{[^}]*})");

  /** The behaviour that replaces a response. */
  interface Behavior {
    void play(FakeE2b server, Request request, Socket socket) throws IOException;
  }

  /** A received request. */
  record Request(String line, Map<String, String> headers, Bytes body) {
    String text() {
      return body.utf8();
    }
  }

  private record Planned(String line, Behavior trick) {}

  final List<Request> requests = new CopyOnWriteArrayList<>();
  private final Map<String, String> sandboxes = new ConcurrentHashMap<>();
  private final ConcurrentLinkedDeque<Planned> plans = new ConcurrentLinkedDeque<>();
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();
  private final ServerSocket server;

  FakeE2b() throws IOException {
    server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().start(this::accept);
  }

  String url() {
    return "http://127.0.0.1:" + server.getLocalPort();
  }

  /** Applies {@code trick} to the next request whose request line begins with this text. */
  void next(String line, Behavior trick) {
    plans.add(new Planned(line, trick));
  }

  /** Performs the request but responds as if it had failed. */
  static Behavior performsAndAnswers(int status, String body) {
    return (server, request, socket) -> {
      String[] _ = server.usual(request);
      send(socket, status, "application/json", body);
    };
  }

  long count(String line) {
    return requests.stream().filter(one -> one.line().startsWith(line)).count();
  }

  int alive() {
    return sandboxes.size();
  }

  static Behavior answers(int status, String body, String... headers) {
    return (server, request, socket) -> send(socket, status, "application/json", body, headers);
  }

  /** Sends no response. */
  static Behavior hangs() {
    return (server, request, socket) -> {};
  }

  /** Performs the request, then closes the connection without a response. */
  static Behavior performsAndDisconnects() {
    return (server, request, socket) -> {
      server.usual(request);
      socket.close();
    };
  }

  /** Starts a stream with these messages; empty text ends it properly. */
  static Behavior streams(String... messages) {
    return (server, request, socket) -> {
      ByteArrayOutputStream body = new ByteArrayOutputStream();
      for (String message : messages) {
        byte[] json = (message.isEmpty() ? "{}" : message).getBytes(UTF_8);
        body.write(message.isEmpty() ? 2 : 0);
        body.writeBytes(ByteBuffer.allocate(4).putInt(json.length).array());
        body.writeBytes(json);
      }
      OutputStream out = socket.getOutputStream();
      out.write(
          "HTTP/1.1 200 OK\r\nContent-Type: application/connect+json\r\nConnection: close\r\n\r\n"
              .getBytes(ISO_8859_1));
      out.write(body.toByteArray());
      out.flush();
      socket.close();
    };
  }

  private void accept() {
    try {
      while (true) {
        Socket socket = server.accept();
        sockets.add(socket);
        Thread.ofVirtual().start(() -> serve(socket));
      }
    } catch (IOException e) {
      // The server was closed.
    }
  }

  private void serve(Socket socket) {
    try {
      InputStream in = new BufferedInputStream(socket.getInputStream());
      while (!socket.isClosed()) {
        Request request = read(in);
        requests.add(request);
        Planned plan =
            plans.stream()
                .filter(one -> request.line().startsWith(one.line()))
                .findFirst()
                .orElse(null);
        if (plan != null) {
          plans.remove(plan);
          plan.trick().play(this, request, socket);
        } else {
          String[] answer = usual(request);
          send(socket, Integer.parseInt(answer[0]), "application/json", answer[1]);
        }
      }
    } catch (IOException e) {
      // The client disconnected.
    }
  }

  /** Performs a request and returns the status and the body. */
  private String[] usual(Request request) {
    String[] words = request.line().split(" ");
    String path = words[1].replaceFirst("\\?.*", "");
    String name = path.replaceFirst("^/sandboxes/", "");
    return switch (words[0] + " " + path) {
      case "POST /v2/sandboxes" -> {
        Matcher metadata = METADATA.matcher(request.text());
        String made = "s" + (requests.size() + 1000);
        sandboxes.put(made, metadata.find() ? metadata.group(1) : "{}");
        yield new String[] {"201", "{\"sandboxID\":\"" + made + "\",\"envdAccessToken\":\"t\"}"};
      }
      case "GET /v2/sandboxes" -> {
        List<String> all = new ArrayList<>();
        sandboxes.forEach((one, metadata) -> all.add(described(one, metadata)));
        yield new String[] {"200", "[" + String.join(",", all) + "]"};
      }
      case "GET /health" -> new String[] {"204", ""};
      default -> one(words[0], name);
    };
  }

  private String[] one(String method, String name) {
    String there = sandboxes.get(name);
    if (there == null) {
      return new String[] {"404", "{\"code\":404,\"message\":\"not found\"}"};
    }
    if (method.equals("DELETE")) {
      sandboxes.remove(name);
      return new String[] {"204", ""};
    }
    return new String[] {"200", described(name, there)};
  }

  private static String described(String name, String metadata) {
    return "{\"sandboxID\":\"" + name + "\",\"state\":\"running\",\"metadata\":" + metadata + "}";
  }

  private static Request read(InputStream in) throws IOException {
    String line = line(in);
    Map<String, String> headers = new TreeMap<>();
    for (String header = line(in); !header.isEmpty(); header = line(in)) {
      String[] pair = header.split(": ?", 2);
      headers.put(pair[0].toLowerCase(Locale.ROOT), pair[1]);
    }
    int length = Integer.parseInt(headers.getOrDefault("content-length", "0"));
    return new Request(line, headers, Bytes.of(in.readNBytes(length)));
  }

  private static String line(InputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        throw new IOException("the client went away");
      }
      if (c != '\r') {
        line.append((char) c);
      }
    }
    return line.toString();
  }

  private static void send(Socket socket, int status, String type, String body, String... headers)
      throws IOException {
    byte[] bytes = body.getBytes(UTF_8);
    StringBuilder head = new StringBuilder("HTTP/1.1 " + status + " Whatever\r\n");
    if (status != 204) {
      head.append("Content-Type: " + type + "\r\nContent-Length: " + bytes.length + "\r\n");
    }
    for (String header : headers) {
      head.append(header).append("\r\n");
    }
    OutputStream out = socket.getOutputStream();
    out.write(head.append("\r\n").toString().getBytes(ISO_8859_1));
    out.write(bytes);
    out.flush();
  }

  @Override
  public void close() throws IOException {
    server.close();
    for (Socket socket : sockets) {
      socket.close();
    }
  }
}
