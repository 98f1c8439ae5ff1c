package dev.isola.provider.kubernetes.api;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.security.NoSuchAlgorithmException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import javax.net.ssl.SSLContext;

/**
 * Answers requests one after the other with prepared responses, for what a real cluster rarely
 * does.
 */
final class FakeApiServer implements AutoCloseable {
  private final HttpServer server;
  private final BlockingQueue<String> responses = new LinkedBlockingQueue<>();
  final List<String> requests = new CopyOnWriteArrayList<>();

  FakeApiServer() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", this::answer);
    server.start();
  }

  /** Adds a response: a status, a space and the body. */
  void respond(String response) {
    responses.add(response);
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange;
        OutputStream out = exchange.getResponseBody()) {
      requests.add(exchange.getRequestMethod() + " " + exchange.getRequestURI());
      String response = responses.take();
      exchange.sendResponseHeaders(Integer.parseInt(response.substring(0, 3)), 0);
      out.write(response.substring(4).getBytes(UTF_8));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  ClusterAccess access() throws NoSuchAlgorithmException {
    return new ClusterAccess(
        URI.create("http://127.0.0.1:" + server.getAddress().getPort()),
        SSLContext.getDefault(),
        ClusterAccess.TokenSource.NONE,
        Optional.empty());
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
