package dev.isola.bench;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.isola.conformance.Scratch;
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

/** Listens on a unix socket and answers each request with the bytes that a function makes of it. */
final class FakeEngine implements AutoCloseable {
  private final Scratch scratch = Scratch.make("isola-engine");
  private final ServerSocketChannel server;

  /** The first lines of the requests. */
  final List<String> requests = new CopyOnWriteArrayList<>();

  /** How often somebody connected. */
  final List<SocketChannel> connections = new CopyOnWriteArrayList<>();

  /**
   * @param answers of a request's first line; after one that starts with {@code HTTP/1.0} the
   *     connection is closed
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
      // The test is over.
    }
  }

  private void serve(SocketChannel channel, Function<String, String> answers) {
    try (channel) {
      ByteBuffer buffer = ByteBuffer.allocate(8192);
      while (channel.read(buffer.clear()) > 0) {
        String line = new String(buffer.array(), 0, buffer.position(), ISO_8859_1);
        line = line.substring(0, line.indexOf(" HTTP"));
        requests.add(line);
        String answer = answers.apply(line);
        channel.write(ByteBuffer.wrap(answer.getBytes(ISO_8859_1)));
        if (answer.startsWith("HTTP/1.0")) {
          return;
        }
      }
    } catch (IOException gone) {
      // The client left.
    }
  }

  /** Returns an answer with a length. */
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
