package dev.isola.bench;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/**
 * One connection of HTTP/1.1 over a unix socket, kept between requests as long as the server keeps
 * it. Not for several threads.
 */
final class UnixHttp implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int LONGEST_LINE = 8 * 1024;
  private static final int LONGEST_BODY = 8 * 1024 * 1024;

  /** An answer; {@code body} is text where it is JSON. */
  record Answer(int status, String body) {}

  private final Path socket;
  private final SocketChannel channel;
  private final Selector selector;
  private final ByteBuffer in = ByteBuffer.allocate(16 * 1024).limit(0);
  private long deadline;
  private boolean ended;

  private UnixHttp(Path socket, SocketChannel channel, Selector selector) {
    this.socket = socket;
    this.channel = channel;
    this.selector = selector;
  }

  /**
   * @throws IOException when nobody listens there
   */
  static UnixHttp connect(Path socket) throws IOException {
    SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      channel.connect(UnixDomainSocketAddress.of(socket));
      channel.configureBlocking(false);
      Selector selector = Selector.open();
      channel.register(selector, SelectionKey.OP_READ);
      return new UnixHttp(socket, channel, selector);
    } catch (IOException e) {
      channel.close();
      throw new IOException("nobody answers on " + socket + ": " + e.getMessage(), e);
    }
  }

  /** Tells whether the server closed the connection after its last answer. */
  boolean ended() {
    return ended;
  }

  /**
   * Sends a request and waits for the whole answer.
   *
   * @param body JSON, or empty
   */
  Answer ask(String method, String path, String body) throws IOException {
    deadline = System.nanoTime() + PATIENCE.toNanos();
    byte[] content = body.getBytes(UTF_8);
    String head =
        method
            + " "
            + path
            + " HTTP/1.1\r\nHost: localhost\r\n"
            + (content.length > 0 ? "Content-Type: application/json\r\n" : "")
            + "Content-Length: "
            + content.length
            + "\r\n\r\n";
    ByteArrayOutputStream request = new ByteArrayOutputStream();
    request.writeBytes(head.getBytes(ISO_8859_1));
    request.writeBytes(content);
    ByteBuffer out = ByteBuffer.wrap(request.toByteArray());
    while (out.hasRemaining()) {
      // A request is far smaller than a socket's buffer: this is never more than one write.
      if (channel.write(out) == 0) {
        checkTime();
      }
    }
    int status = status(line());
    Map<String, String> headers = headers();
    byte[] answer = body(status, headers);
    ended |= headers.getOrDefault("connection", "").equalsIgnoreCase("close");
    return new Answer(status, new String(answer, UTF_8));
  }

  private int status(String line) throws IOException {
    if (line.length() < 12 || !line.startsWith("HTTP/1.")) {
      throw new IOException(socket + " does not speak HTTP");
    }
    try {
      return Integer.parseInt(line, 9, 12, 10);
    } catch (NumberFormatException e) {
      throw new IOException(socket + " does not speak HTTP", e);
    }
  }

  private Map<String, String> headers() throws IOException {
    Map<String, String> headers = new HashMap<>();
    for (String line = line(); !line.isEmpty(); line = line()) {
      int colon = line.indexOf(':');
      if (colon > 0) {
        headers.put(
            line.substring(0, colon).toLowerCase(Locale.ROOT), line.substring(colon + 1).strip());
      }
    }
    return headers;
  }

  private byte[] body(int status, Map<String, String> headers) throws IOException {
    if (status == 204 || status == 304) {
      return new byte[0];
    }
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    if (headers.getOrDefault("transfer-encoding", "").equalsIgnoreCase("chunked")) {
      for (int size = chunk(); size > 0; size = chunk()) {
        take(size, body);
        line();
      }
      headers();
    } else if (headers.containsKey("content-length")) {
      take(number(headers.getOrDefault("content-length", ""), 10), body);
    } else {
      while (fill()) {
        take(in.remaining(), body);
      }
      ended = true;
    }
    return body.toByteArray();
  }

  private int chunk() throws IOException {
    String line = line();
    int semicolon = line.indexOf(';');
    return number(semicolon < 0 ? line : line.substring(0, semicolon), 16);
  }

  private static int number(String text, int radix) throws IOException {
    try {
      return Integer.parseUnsignedInt(text.strip(), radix);
    } catch (NumberFormatException e) {
      throw new IOException("the answer has a length of '" + text + "'", e);
    }
  }

  private void take(int count, ByteArrayOutputStream out) throws IOException {
    if (count < 0 || count > LONGEST_BODY - out.size()) {
      throw new IOException("the answer is longer than " + LONGEST_BODY + " bytes");
    }
    for (int left = count; left > 0; ) {
      need();
      int piece = Math.min(left, in.remaining());
      out.write(in.array(), in.position(), piece);
      in.position(in.position() + piece);
      left -= piece;
    }
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    while (true) {
      need();
      char c = (char) (in.get() & 0xff);
      if (c == '\n') {
        return line.toString().stripTrailing();
      }
      if (line.length() == LONGEST_LINE) {
        throw new IOException("the answer has a line longer than " + LONGEST_LINE + " bytes");
      }
      line.append(c);
    }
  }

  private void need() throws IOException {
    if (!fill()) {
      ended = true;
      throw new EOFException("the connection was closed in the middle of an answer");
    }
  }

  /** Makes sure that there is something to read; false at the end. */
  private boolean fill() throws IOException {
    while (!in.hasRemaining()) {
      in.clear();
      int count = channel.read(in);
      in.flip();
      if (count < 0) {
        return false;
      }
      if (count == 0) {
        selector.select(checkTime());
        selector.selectedKeys().clear();
      }
    }
    return true;
  }

  /** Returns the milliseconds that are left. */
  private long checkTime() throws IOException {
    long left = deadline - System.nanoTime();
    if (left <= 0) {
      throw new IOException(socket + " did not answer within " + PATIENCE.toSeconds() + " s");
    }
    return left / 1_000_000 + 1;
  }

  @Override
  public void close() throws IOException {
    selector.close();
    channel.close();
  }
}
