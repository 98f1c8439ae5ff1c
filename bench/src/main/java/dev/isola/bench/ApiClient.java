package dev.isola.bench;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/**
 * A minimal HTTP client on one persistent connection. It is minimal because its cost is part of
 * every result. Not thread-safe.
 */
final class ApiClient implements AutoCloseable {
  private static final int TIMEOUT_MS = 60_000;
  private static final int BUFFER = 64 * 1024;
  private static final Duration FRESH = Duration.ofSeconds(10);

  private final Socket socket;
  private final InputStream in;
  private final OutputStream out;
  private final String key;
  private long lastUsed = System.nanoTime();

  private ApiClient(Socket socket, String key) throws IOException {
    this.socket = socket;
    this.key = key;
    in = new BufferedInputStream(socket.getInputStream(), BUFFER);
    out = socket.getOutputStream();
  }

  static ApiClient connect(int port, String key) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(TIMEOUT_MS);
    return new ApiClient(socket, key);
  }

  /** Sends a request and returns the body of the response, which must be a success. */
  String send(String method, String path, String body) throws IOException {
    byte[] content = body.getBytes(UTF_8);
    ByteArrayOutputStream request = new ByteArrayOutputStream(512 + content.length);
    request.writeBytes(head(method, path, content.length));
    request.writeBytes(content);
    out.write(request.toByteArray());
    ByteArrayOutputStream answer = new ByteArrayOutputStream();
    answer(answer);
    return answer.toString(UTF_8);
  }

  void upload(String path, Path file) throws IOException {
    out.write(head("PUT", path, Files.size(file)));
    try (FileInputStream content = new FileInputStream(file.toFile())) {
      copy(content, out, Files.size(file));
    }
    answer(new ByteArrayOutputStream());
  }

  void download(String path, Path file) throws IOException {
    out.write(head("GET", path, 0));
    try (FileOutputStream content = new FileOutputStream(file.toFile())) {
      answer(content);
    }
  }

  /**
   * Opens an event stream, which {@link #awaitEvent} reads. The connection can then serve nothing
   * else.
   */
  void follow(String path) throws IOException {
    out.write(head("GET", path, 0));
    requireSuccess(new HashMap<>());
  }

  /** Returns when an event of that name has arrived. */
  void awaitEvent(String name) throws IOException {
    while (!line().equals("event: " + name)) {
      // A chunk length, an empty line or a comment.
    }
    while (!line().startsWith("data: ")) {
      // The id of the event.
    }
  }

  private byte[] head(String method, String path, long length) {
    return (method
            + " "
            + path
            + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
            + key
            + "\r\nContent-Length: "
            + length
            + "\r\n\r\n")
        .getBytes(ISO_8859_1);
  }

  private void requireSuccess(Map<String, String> headers) throws IOException {
    String status = line();
    for (String line = line(); !line.isEmpty(); line = line()) {
      int colon = line.indexOf(':');
      headers.put(line.substring(0, colon).toLowerCase(Locale.ROOT), line.substring(colon + 1));
    }
    if (!status.startsWith("HTTP/1.1 2")) {
      ByteArrayOutputStream problem = new ByteArrayOutputStream();
      copy(in, problem, Long.parseLong(headers.getOrDefault("content-length", "0").strip()));
      throw new IOException("unexpected status: " + status + " " + problem.toString(UTF_8).strip());
    }
  }

  /** Tells whether the server may have closed the idle connection. */
  boolean isStale() {
    return System.nanoTime() - lastUsed > FRESH.toNanos();
  }

  private void answer(OutputStream to) throws IOException {
    Map<String, String> headers = new HashMap<>();
    requireSuccess(headers);
    String length = headers.get("content-length");
    if (length != null) {
      copy(in, to, Long.parseLong(length.strip()));
    } else if (headers.containsKey("transfer-encoding")) {
      for (long size = Long.parseLong(line(), 16); size > 0; size = Long.parseLong(line(), 16)) {
        copy(in, to, size);
        line();
      }
      line();
    }
    lastUsed = System.nanoTime();
  }

  private static void copy(InputStream from, OutputStream to, long count) throws IOException {
    byte[] buffer = new byte[(int) Math.min(count, BUFFER)];
    for (long left = count; left > 0; ) {
      int read = from.read(buffer, 0, (int) Math.min(left, buffer.length));
      if (read < 0) {
        throw new EOFException("the response is truncated");
      }
      to.write(buffer, 0, read);
      left -= read;
    }
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        throw new EOFException("the server closed the connection");
      }
      if (c != '\r') {
        line.append((char) c);
      }
    }
    return line.toString();
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
