package dev.isola.server.peer;

import dev.isola.engine.api.SandboxHome;
import dev.isola.server.forward.ConnectionReader;
import dev.isola.server.forward.ForwardableExchange;
import dev.isola.server.forward.Header;
import dev.isola.server.forward.MalformedResponse;
import dev.isola.server.forward.ResponseBody;
import dev.isola.server.forward.ResponseHead;
import dev.isola.server.route.Exchange;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Passes one request on to another server and streams the response back. Bodies are streamed in
 * both directions at once; a side that does not read slows down the other. When the client
 * disconnects, so does this server, and the owner notices as if the client were its own.
 */
final class PeerForwarder {
  private static final int BUFFER = 64 * 1024;
  private static final int CONTINUE = 100;

  /** Methods that have the same effect when they are repeated. */
  private static final Set<String> IDEMPOTENT = Set.of("GET", "HEAD", "PUT", "DELETE", "OPTIONS");

  private final PeerConnections connections;
  private final ForwardableExchange exchange;
  private final String target;
  private final List<Header> headers;
  private final RequestBody body;
  private boolean released;

  /**
   * @param target the path and query that are sent
   * @param headers the headers of the client that are sent
   */
  PeerForwarder(
      PeerConnections connections,
      ForwardableExchange exchange,
      String target,
      List<Header> headers,
      RequestBody body) {
    this.connections = connections;
    this.exchange = exchange;
    this.target = target;
    this.headers = List.copyOf(headers);
    this.body = body;
  }

  /**
   * Tries to pass the request on.
   *
   * @param statement the header by which the owner knows what the request is
   * @throws IOException when the client disconnects, or when the owner does after the response has
   *     begun
   */
  PeerOutcome attempt(SandboxHome.At home, String statement) throws IOException {
    PeerConnection connection;
    try {
      connection = connections.connect(home);
    } catch (IOException e) {
      return PeerOutcome.UNREACHABLE;
    }
    boolean tunnelled = false;
    released = false;
    Thread upload = null;
    try (Exchange.DisconnectWatch _ = watch()) {
      ConnectionReader in = new ConnectionReader(connection);
      ResponseHead head;
      try {
        send(connection, statement);
        head = ResponseHead.readAny(in);
        if (head.status() == CONTINUE && body instanceof RequestBody.Streamed streamed) {
          upload =
              Thread.ofVirtual()
                  .name("isola-peer-upload")
                  .start(() -> upload(streamed, connection));
        }
        if (isInterim(head)) {
          head = ResponseHead.read(in);
        }
      } catch (IOException e) {
        return failed(upload != null);
      }
      if (PeerHeaders.isMoved(head)) {
        return PeerOutcome.MOVED;
      }
      if (head.isSwitchingProtocols()) {
        tunnelled = true; // the tunnel closes it
        tunnel(head, in, connection);
        return PeerOutcome.ANSWERED;
      }
      ResponseBody content;
      byte[] buffer = new byte[BUFFER];
      int first;
      try {
        content = new ResponseBody(in, head.framing(exchange.method()));
        first = isStreamed(head) ? 0 : content.read(buffer);
      } catch (IOException e) {
        return failed(upload != null);
      }
      relay(head, content, buffer, first, connection, upload == null && isReusable(head));
      return PeerOutcome.ANSWERED;
    } finally {
      if (!tunnelled && !released) {
        connection.close();
      }
      stop(upload);
    }
  }

  private static boolean isInterim(ResponseHead head) {
    return head.status() < 200 && !head.isSwitchingProtocols();
  }

  /**
   * Returns the outcome after the other server left without a response.
   *
   * @param consumed whether bytes of a body that cannot be sent again were sent
   */
  private PeerOutcome failed(boolean consumed) throws IOException {
    if (exchange.isShuttingDown()) {
      throw Fault.of(
              ErrorCode.OUTCOME_UNKNOWN,
              "the server shut down before the owner of the sandbox answered",
              "the request may have had an effect; look at the state of the sandbox before you"
                  + " repeat it")
          .exception();
    }
    if (Thread.currentThread().isInterrupted()) {
      throw new IOException("the client disconnected");
    }
    return !consumed && IDEMPOTENT.contains(exchange.method())
        ? PeerOutcome.UNREACHABLE
        : PeerOutcome.UNKNOWN;
  }

  /**
   * Watches for a disconnect by reading from the connection, which is only possible while nothing
   * else reads from it.
   */
  private Exchange.DisconnectWatch watch() {
    boolean idle =
        body instanceof RequestBody.Buffered
            && PeerHeaders.requestedUpgrade(exchange.headers()).isEmpty();
    return idle ? exchange.interruptOnDisconnect() : () -> {};
  }

  private void send(PeerConnection connection, String statement) throws IOException {
    StringBuilder head =
        new StringBuilder(exchange.method()).append(' ').append(target).append(" HTTP/1.1\r\n");
    headers.forEach(one -> line(head, one.name(), one.value()));
    line(head, PeerServers.HEADER, statement);
    Optional<String> upgrade = PeerHeaders.requestedUpgrade(exchange.headers());
    if (upgrade.isPresent()) {
      line(head, "Connection", "Upgrade");
      line(head, "Upgrade", upgrade.get());
    }
    byte[] content = new byte[0];
    switch (body) {
      case RequestBody.Buffered(byte[] bytes) -> {
        content = bytes;
        if (bytes.length > 0 || Header.first(exchange.headers(), "Content-Length").isPresent()) {
          line(head, "Content-Length", Integer.toString(bytes.length));
        }
      }
      case RequestBody.Streamed(InputStream _, long length) -> {
        line(head, "Expect", "100-continue");
        if (length < 0) {
          line(head, "Transfer-Encoding", "chunked");
        } else {
          line(head, "Content-Length", Long.toString(length));
        }
      }
    }
    byte[] text = head.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1);
    ByteBuffer all = ByteBuffer.allocate(text.length + content.length);
    connection.write(all.put(text).put(content).flip());
  }

  private static void line(StringBuilder head, String name, String value) {
    head.append(name).append(": ").append(value).append("\r\n");
  }

  private static void upload(RequestBody.Streamed streamed, PeerConnection connection) {
    boolean chunked = streamed.length() < 0;
    byte[] buffer = new byte[BUFFER];
    try {
      InputStream content = streamed.content();
      for (int read = content.read(buffer); read >= 0; read = content.read(buffer)) {
        if (chunked && read > 0) {
          write(connection, Integer.toHexString(read) + "\r\n");
        }
        connection.write(ByteBuffer.wrap(buffer, 0, read));
        if (chunked && read > 0) {
          write(connection, "\r\n");
        }
      }
      if (chunked) {
        write(connection, "0\r\n\r\n");
      }
    } catch (IOException e) {
      // Either the client disconnected, or the owner stopped reading and may still send a response.
      connection.shutdownOutput();
    }
  }

  private static void write(PeerConnection connection, String text) throws IOException {
    connection.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII)));
  }

  private void tunnel(ResponseHead head, ConnectionReader in, PeerConnection connection)
      throws IOException {
    boolean established = false;
    try {
      if (PeerHeaders.requestedUpgrade(exchange.headers()).isEmpty()) {
        throw new MalformedResponse("the owner switched protocols without a request to do so");
      }
      exchange.tunnel(PeerHeaders.toClient(head), connection, in.buffered());
      established = true;
    } finally {
      if (!established) {
        connection.close();
      }
    }
  }

  /** Returns whether the first byte of the body may take a while. */
  private boolean isStreamed(ResponseHead head) throws MalformedResponse {
    return switch (head.framing(exchange.method())) {
      case ResponseHead.Framing.FixedLength(long _) -> false;
      case ResponseHead.Framing.None() -> false;
      case ResponseHead.Framing.Chunked() -> true;
      case ResponseHead.Framing.UntilClose() -> true;
    };
  }

  private static boolean isEvents(ResponseHead head) {
    return Header.first(head.headers(), "Content-Type")
        .filter(type -> type.startsWith("text/event-stream"))
        .isPresent();
  }

  private boolean isReusable(ResponseHead head) throws MalformedResponse {
    return !(head.framing(exchange.method()) instanceof ResponseHead.Framing.UntilClose)
        && !PeerHeaders.closes(head);
  }

  /**
   * Sends the response to the client.
   *
   * @param first how many bytes of the body the buffer has; -1 if there is none
   * @param reusable whether the connection can be used again. It is released before the client has
   *     the last byte, so that the client's next request finds it.
   */
  private void relay(
      ResponseHead head,
      ResponseBody content,
      byte[] buffer,
      int first,
      PeerConnection connection,
      boolean reusable)
      throws IOException {
    List<Header> sent = new ArrayList<>(PeerHeaders.toClient(head));
    boolean streamed = isStreamed(head);
    if (streamed) {
      sent.add(new Header("Transfer-Encoding", "chunked")); // so that truncation shows
    } else if (head.status() != 204) {
      Header.first(head.headers(), "Content-Length")
          .ifPresent(length -> sent.add(new Header("Content-Length", length)));
    }
    if (isEvents(head)) {
      connections.beginStream(connection);
    }
    // Closed only when the body is complete, so that the client can detect truncation.
    OutputStream out = exchange.begin(head.status(), sent);
    if (streamed) {
      out.flush();
    }
    for (int read = first; read >= 0; read = content.read(buffer)) {
      releaseWhenComplete(content, connection, reusable);
      if (read > 0) {
        out.write(buffer, 0, read);
      }
    }
    releaseWhenComplete(content, connection, reusable);
    out.close();
  }

  private void releaseWhenComplete(
      ResponseBody content, PeerConnection connection, boolean reusable) {
    if (reusable && !released && content.isComplete()) {
      released = true;
      connections.release(connection);
    }
  }

  /** Stops the upload; the request body must not be read after the handler returns. */
  private static void stop(@Nullable Thread upload) {
    if (upload == null) {
      return;
    }
    upload.interrupt();
    try {
      upload.join(Duration.ofSeconds(5));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
