package dev.isola.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.spi.Bytes;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** A client on plain sockets, which can send invalid requests. */
public record TestClient(int port, String key) {
  private static final JsonMapper JSON = new JsonMapper();

  /** A complete response. */
  public record Response(int status, Map<String, String> headers, Bytes content) {
    public byte[] body() {
      return content.toArray();
    }

    public String text() {
      return content.utf8();
    }

    public Map<String, Object> json() {
      return JSON.readValue(body(), new TypeReference<Map<String, Object>>() {});
    }

    /** Returns a field of the JSON as text. */
    public String field(String name) {
      return String.valueOf(json().get(name));
    }

    /** Returns a list of objects in the JSON. */
    public List<Map<?, ?>> list(String name) {
      List<Map<?, ?>> list = new ArrayList<>();
      if (json().get(name) instanceof List<?> found) {
        found.forEach(one -> list.add((Map<?, ?>) one));
      }
      return list;
    }

    public String type() {
      return headers.getOrDefault("content-type", "");
    }
  }

  /** A response whose head has been read and whose body is still arriving. */
  public record OpenResponse(
      Socket socket, int status, Map<String, String> headers, InputStream body)
      implements AutoCloseable {
    @Override
    public void close() throws IOException {
      socket.close();
    }
  }

  public Response get(String path) throws IOException {
    return send("GET", path, Map.of(), new byte[0]);
  }

  public Response delete(String path) throws IOException {
    return send("DELETE", path, Map.of(), new byte[0]);
  }

  public Response post(String path, String json) throws IOException {
    return send("POST", path, Map.of("Content-Type", "application/json"), json.getBytes(UTF_8));
  }

  public Response put(String path, byte[] body) throws IOException {
    return send("PUT", path, Map.of(), body);
  }

  public Response send(String method, String path, Map<String, String> headers, byte[] body)
      throws IOException {
    try (OpenResponse open = open(method, path, headers, body)) {
      return new Response(open.status(), open.headers(), Bytes.of(open.body().readAllBytes()));
    }
  }

  /** Sends a request and reads the response head. The headers replace the defaults. */
  public OpenResponse open(String method, String path, Map<String, String> headers, byte[] body)
      throws IOException {
    Map<String, String> all = new LinkedHashMap<>();
    all.put("Host", "127.0.0.1:" + port);
    all.put("Connection", "close");
    if (!key.isEmpty()) {
      all.put("Authorization", "Bearer " + key);
    }
    if (body.length > 0 || !method.equals("GET")) {
      all.put("Content-Length", Integer.toString(body.length));
    }
    all.putAll(headers);
    StringBuilder head = new StringBuilder(method + " " + path + " HTTP/1.1\r\n");
    all.forEach((name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
    ByteArrayOutputStream request = new ByteArrayOutputStream();
    request.writeBytes(head.append("\r\n").toString().getBytes(ISO_8859_1));
    request.writeBytes(body);
    return raw(request.toByteArray());
  }

  public OpenResponse raw(byte[] request) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setSoTimeout(30_000);
    try {
      socket.getOutputStream().write(request);
    } catch (IOException e) {
      // The request was rejected before it was read completely; the response says why.
    }
    return read(socket);
  }

  public static OpenResponse read(Socket socket) throws IOException {
    InputStream in = new BufferedInputStream(socket.getInputStream());
    String line = line(in);
    Map<String, String> headers = new LinkedHashMap<>();
    for (String header = line(in); !header.isEmpty(); header = line(in)) {
      int colon = header.indexOf(':');
      headers.merge(
          header.substring(0, colon).toLowerCase(Locale.ROOT),
          header.substring(colon + 1).strip(),
          (first, second) -> first + "\n" + second);
    }
    int status = Integer.parseInt(line.split(" ")[1]);
    InputStream body = in;
    if ("chunked".equals(headers.get("transfer-encoding"))) {
      body = new Chunks(in);
    } else if (headers.containsKey("content-length")) {
      body = new Exactly(in, Long.parseLong(headers.get("content-length")));
    }
    return new OpenResponse(socket, status, headers, body);
  }

  private static String line(InputStream in) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        throw new EOFException("the server closed the connection");
      }
      if (c != '\r') {
        line.write(c);
      }
    }
    return line.toString(ISO_8859_1);
  }

  /** A body of known length. A truncated body is an error. */
  private static final class Exactly extends InputStream {
    private final InputStream in;
    private long left;

    Exactly(InputStream in, long left) {
      this.in = in;
      this.left = left;
    }

    @Override
    public int read() throws IOException {
      if (left == 0) {
        return -1;
      }
      int c = in.read();
      if (c < 0) {
        throw new EOFException("truncated");
      }
      left--;
      return c;
    }

    @Override
    public int read(byte[] buffer, int from, int length) throws IOException {
      return one(this, buffer, from, length);
    }
  }

  /** Reads a single byte, so that it does not wait for the next event. */
  private static int one(InputStream in, byte[] buffer, int from, int length) throws IOException {
    int c = length == 0 ? -1 : in.read();
    if (c < 0) {
      return length == 0 ? 0 : -1;
    }
    buffer[from] = (byte) c;
    return 1;
  }

  /** A chunked body. A truncated body is an error. */
  private static final class Chunks extends InputStream {
    private final InputStream in;
    private long left;
    private boolean ended;

    Chunks(InputStream in) {
      this.in = in;
    }

    @Override
    public int read() throws IOException {
      if (ended) {
        return -1;
      }
      if (left == 0) {
        left = Long.parseLong(line(in).strip(), 16);
        if (left == 0) {
          line(in);
          ended = true;
          return -1;
        }
      }
      int c = in.read();
      if (c < 0) {
        throw new EOFException("truncated");
      }
      if (--left == 0) {
        line(in);
      }
      return c;
    }

    @Override
    public int read(byte[] buffer, int from, int length) throws IOException {
      return one(this, buffer, from, length);
    }
  }
}
