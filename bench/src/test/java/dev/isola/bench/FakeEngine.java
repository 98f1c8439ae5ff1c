package dev.isola.bench;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.isola.conformance.TemporaryFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Listens on a unix socket and answers each request with the result of a function. */
final class FakeEngine implements AutoCloseable {
  private static final Pattern LENGTH = Pattern.compile("\r\nContent-Length: ([0-9]+)\r\n");

  private final TemporaryFolder scratch = TemporaryFolder.create("isola-engine");
  private final ServerSocketChannel server;

  /** The request lines. */
  final List<String> requests = new CopyOnWriteArrayList<>();

  /** The number of connections. */
  final List<SocketChannel> connections = new CopyOnWriteArrayList<>();

  /**
   * @param answers returns the response for a request line; after a response that starts with
   *     {@code HTTP/1.0} the connection is closed
   */
  FakeEngine(Function<String, String> answers) throws IOException {
    server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    server.bind(UnixDomainSocketAddress.of(socket()));
    Thread.ofVirtual().start(() -> accept(answers));
  }

  Path socket() {
    return scratch.path().resolve("s");
  }

  private void accept(Function<String, String> answers) {
    try {
      while (true) {
        SocketChannel channel = server.accept();
        connections.add(channel);
        Thread.ofVirtual().start(() -> serve(channel, answers));
      }
    } catch (IOException closed) {
      // The test has ended.
    }
  }

  private void serve(SocketChannel channel, Function<String, String> answers) {
    try (channel) {
      ByteBuffer buffer = ByteBuffer.allocate(8192);
      while (channel.read(buffer) > 0) {
        String request = new String(buffer.array(), 0, buffer.position(), ISO_8859_1);
        if (!isWhole(request)) {
          continue;
        }
        buffer.clear();
        String line = request.substring(0, request.indexOf(" HTTP"));
        requests.add(line);
        String answer = answers.apply(line);
        channel.write(ByteBuffer.wrap(answer.getBytes(ISO_8859_1)));
        if (answer.startsWith("HTTP/1.0")) {
          return;
        }
      }
    } catch (IOException gone) {
      // The client disconnected.
    }
  }

  /** Head and body may arrive in pieces. */
  private static boolean isWhole(String request) {
    int end = request.indexOf("\r\n\r\n");
    Matcher length = LENGTH.matcher(request);
    int body = length.find() ? Integer.parseInt(length.group(1)) : 0;
    return end >= 0 && request.length() >= end + 4 + body;
  }

  /** Returns a response with a content length. */
  static String answer(int status, String body) {
    return "HTTP/1.1 " + status + " X\r\nContent-Length: " + body.length() + "\r\n\r\n" + body;
  }

  @Override
  public void close() {
    try {
      server.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      scratch.close();
    }
  }
}
