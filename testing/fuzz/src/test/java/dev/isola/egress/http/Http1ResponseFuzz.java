package dev.isola.egress.http;

import static dev.isola.egress.http.ProxyFixture.require;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import org.eclipse.jetty.http.HttpCompliance;
import org.eclipse.jetty.http.HttpException;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpParser;
import org.eclipse.jetty.http.HttpVersion;

/**
 * A server answers requests with the input. Jetty's parser finds in what the client receives no
 * more final responses than there were requests, and the client never receives the secret. The
 * first byte selects the requests.
 */
public final class Http1ResponseFuzz {
  private static final String HEAD = " /v1/x HTTP/1.1\r\nHost: api.example\r\n";
  private static final String[] REQUESTS = {
    "GET" + HEAD + "\r\n",
    "HEAD" + HEAD + "\r\n",
    "GET" + HEAD + "\r\nGET" + HEAD + "\r\n",
    "GET" + HEAD + "Connection: upgrade\r\nUpgrade: websocket\r\n\r\n",
    "POST" + HEAD + "Content-Length: 3\r\n\r\nabcGET /denied HTTP/1.1\r\nHost: api.example\r\n\r\n",
  };

  private Http1ResponseFuzz() {}

  /** Counts final responses. */
  private static final class Client implements HttpParser.ResponseHandler {
    private int status;
    private int responses;
    private boolean malformed;

    @Override
    public void startResponse(HttpVersion version, int newStatus, String reason) {
      status = newStatus;
    }

    @Override
    public void parsedHeader(HttpField field) {}

    @Override
    public boolean headerComplete() {
      responses += status >= 200 || status == 101 ? 1 : 0;
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
      return true;
    }

    @Override
    public void earlyEOF() {
      malformed = true;
    }

    @Override
    public void badMessage(HttpException problem) {
      malformed = true;
    }
  }

  public static void fuzzerTestOneInput(byte[] input) throws IOException {
    if (input.length == 0) {
      return;
    }
    int kind = (input[0] & 0xff) % REQUESTS.length;
    byte[] response = Arrays.copyOfRange(input, 1, input.length);
    AtomicBoolean answered = new AtomicBoolean();
    MemoryConnection[] self = new MemoryConnection[1];
    MemoryConnection server =
        new MemoryConnection(
            _ -> {
              if (answered.compareAndSet(false, true)) {
                self[0].supply(response);
                self[0].end();
              }
            });
    self[0] = server;
    MemoryConnection client = new MemoryConnection(_ -> {});
    client.supply(REQUESTS[kind].getBytes(StandardCharsets.US_ASCII));
    client.end();
    try {
      ProxyFixture.serve(client, server, false);
    } catch (IOException e) {
      // How a connection may end.
    }
    byte[] received = client.written();
    ProxyFixture.requireSecretAbsent(received);
    requireResponses(received, kind);
  }

  private static void requireResponses(byte[] received, int kind) {
    int requests = kind == 2 || kind == 4 ? 2 : 1;
    Client handler = new Client();
    HttpParser parser = new HttpParser(handler, 256 * 1024, HttpCompliance.RFC7230);
    ByteBuffer rest = ByteBuffer.wrap(received);
    while (rest.hasRemaining() && !handler.malformed) {
      if (parser.isComplete()) {
        parser.reset();
      }
      if (parser.isClosed()) {
        break;
      }
      parser.setHeadResponse(kind == 1);
      int before = rest.remaining();
      parser.parseNext(rest);
      if (handler.status == 101 || (rest.remaining() == before && !parser.isComplete())) {
        break;
      }
    }
    require(
        handler.responses <= requests,
        handler.responses + " responses to " + requests + " requests");
  }
}
