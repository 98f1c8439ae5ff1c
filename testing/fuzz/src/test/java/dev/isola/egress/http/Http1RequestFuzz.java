package dev.isola.egress.http;

import static dev.isola.egress.http.ProxyFixture.require;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.eclipse.jetty.http.HttpCompliance;
import org.eclipse.jetty.http.HttpException;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpParser;
import org.eclipse.jetty.http.HttpVersion;
import org.jspecify.annotations.Nullable;

/**
 * A guest process sends the input through the proxy. What arrives at the server is parsed by
 * Jetty's parser: each request that it finds is one that the rule allows, with the credentials of
 * the rule, and the client gets one response for each.
 */
public final class Http1RequestFuzz {
  private static final byte[] RESPONSE =
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".getBytes(StandardCharsets.US_ASCII);

  private Http1RequestFuzz() {}

  /** A server that answers each request that Jetty's parser finds. */
  private static final class Server implements HttpParser.RequestHandler {
    private final HttpParser parser = new HttpParser(this, 256 * 1024, HttpCompliance.RFC7230);
    private final MemoryConnection connection = new MemoryConnection(this::parse);
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private final List<HttpField> fields = new ArrayList<>();
    private String method = "";
    private String target = "";
    private boolean malformed;

    private void parse(ByteBuffer bytes) {
      try {
        while (bytes.hasRemaining() && !malformed) {
          if (parser.isComplete()) {
            parser.reset();
          }
          parser.parseNext(bytes);
        }
      } catch (RuntimeException | Error e) {
        failure.compareAndSet(null, e);
        connection.end();
      }
    }

    @Override
    public void startRequest(String newMethod, String uri, HttpVersion version) {
      method = newMethod;
      target = uri;
      fields.clear();
    }

    @Override
    public void parsedHeader(HttpField field) {
      fields.add(field);
    }

    @Override
    public boolean headerComplete() {
      ProxyFixture.requireAllowed(method, target, fields);
      require(ProxyFixture.count(fields, "host") == 1, "not one host");
      return false;
    }

    @Override
    public boolean content(ByteBuffer bytes) {
      bytes.position(bytes.limit());
      return false;
    }

    @Override
    public boolean contentComplete() {
      return false;
    }

    @Override
    public boolean messageComplete() {
      connection.supply(
          method.equals("HEAD")
              ? "HTTP/1.1 204 \r\n\r\n".getBytes(StandardCharsets.US_ASCII)
              : RESPONSE);
      return true;
    }

    @Override
    public void earlyEOF() {
      malformed = true;
    }

    @Override
    public void badMessage(HttpException problem) {
      malformed = true;
      throw new AssertionError("the server refuses what the proxy sent: " + problem);
    }
  }

  public static void fuzzerTestOneInput(byte[] input) throws IOException {
    if (ProxyFixture.knowsSecret(input)) {
      return;
    }
    Server server = new Server();
    MemoryConnection client = new MemoryConnection(_ -> {});
    client.supply(input);
    client.end();
    try {
      ProxyFixture.serve(client, server.connection, false);
    } catch (IOException e) {
      // How a connection may end.
    }
    Throwable failure = server.failure.get();
    if (failure != null) {
      throw new AssertionError("seen by the server: " + failure.getMessage(), failure);
    }
    ProxyFixture.requireSecretAbsent(client.written());
  }
}
