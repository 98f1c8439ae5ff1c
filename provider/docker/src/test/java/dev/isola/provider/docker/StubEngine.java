package dev.isola.provider.docker;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.isola.conformance.TemporaryFolder;
import dev.isola.provider.docker.http.EngineAddress;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A stub that listens on a unix socket and answers each request with a scripted response, to
 * simulate broken engines. Does not support chunked request bodies.
 */
final class StubEngine implements AutoCloseable {
  /** Suffix of a response after which the connection is closed. */
  static final String CLOSE = "<close>";

  /** Sends nothing and keeps the connection open. */
  static final String SILENCE = "silence";

  private static final Pattern LENGTH = Pattern.compile("(?i)\r\ncontent-length: ([0-9]+)");

  private final TemporaryFolder scratch = TemporaryFolder.create("isola-stub-");
  private final ServerSocketChannel server;
  private final List<String> asked = new CopyOnWriteArrayList<>();
  private final List<SocketChannel> open = new CopyOnWriteArrayList<>();

  /**
   * @param script returns the whole response for a request line; empty text closes the connection
   */
  StubEngine(Function<String, String> script) throws IOException {
    server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    server.bind(UnixDomainSocketAddress.of(scratch.path().resolve("sock")), 64);
    Thread.startVirtualThread(() -> accept(script));
  }

  static String response(int status, String body) {
    return "HTTP/1.1 "
        + status
        + " X\r\nContent-Type: application/json\r\nContent-Length: "
        + body.length()
        + "\r\n\r\n"
        + body;
  }

  private void accept(Function<String, String> script) {
    try {
      while (true) {
        SocketChannel one = server.accept();
        open.add(one);
        Thread.startVirtualThread(() -> serve(one, script));
      }
    } catch (IOException closed) {
      // The test has ended.
    }
  }

  private void serve(SocketChannel channel, Function<String, String> script) {
    ByteBuffer buffer = ByteBuffer.allocate(1 << 20);
    try (channel) {
      for (int count = channel.read(buffer); count >= 0; count = channel.read(buffer)) {
        String text = new String(buffer.array(), 0, buffer.position(), ISO_8859_1);
        if (!isWhole(text)) {
          continue;
        }
        buffer.clear();
        String first = text.lines().findFirst().orElse("");
        asked.add(first);
        String said = script.apply(first);
        if (said.isEmpty()) {
          return;
        }
        if (!said.equals(SILENCE)) {
          ByteBuffer out = ByteBuffer.wrap(said.replace(CLOSE, "").getBytes(ISO_8859_1));
          while (out.hasRemaining()) {
            channel.write(out);
          }
          if (said.endsWith(CLOSE)) {
            return;
          }
        }
      }
    } catch (IOException gone) {
      // The client disconnected.
    }
  }

  /** Head and body may arrive in pieces. */
  private static boolean isWhole(String text) {
    int end = text.indexOf("\r\n\r\n");
    if (end < 0) {
      return false;
    }
    Matcher length = LENGTH.matcher(text.substring(0, end));
    return text.length() >= end + 4 + (length.find() ? Integer.parseInt(length.group(1)) : 0);
  }

  String host() {
    return "unix://" + scratch.path().resolve("sock");
  }

  EngineAddress address() {
    return EngineAddressResolver.parse(host());
  }

  /** Tells whether all connections are closed. */
  boolean hungUp() {
    return open.stream().noneMatch(SocketChannel::isOpen);
  }

  /** Returns the request lines so far. */
  List<String> asked() {
    return asked;
  }

  @Override
  public void close() {
    try {
      server.close();
      for (SocketChannel one : open) {
        one.close();
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    scratch.close();
  }
}
