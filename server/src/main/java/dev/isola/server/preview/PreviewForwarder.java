package dev.isola.server.preview;

import dev.isola.server.forward.ConnectionReader;
import dev.isola.server.forward.Header;
import dev.isola.server.forward.MalformedResponse;
import dev.isola.server.forward.ResponseBody;
import dev.isola.server.forward.ResponseHead;
import dev.isola.server.route.Exchange;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Forwards one request to a port of a sandbox and streams the response back. Bodies are streamed in
 * both directions at once. The response must begin within a timeout and may then continue as long
 * as the client reads.
 */
final class PreviewForwarder {
  private static final int BUFFER = 64 * 1024;

  private final PreviewExchange exchange;
  private final SandboxId sandbox;
  private final int port;
  private final Duration timeout;

  PreviewForwarder(PreviewExchange exchange, SandboxId sandbox, int port, Duration timeout) {
    this.exchange = exchange;
    this.sandbox = sandbox;
    this.port = port;
    this.timeout = timeout;
  }

  /**
   * Forwards the request.
   *
   * @param connection closed when this method returns, unless it became a tunnel
   * @param guestHost the Host header for the sandbox; empty for the one that the client sent
   * @param ownCredential whether a header carries a credential of this server
   */
  void forward(
      PortDialing.Connection connection,
      String target,
      Optional<String> guestHost,
      Predicate<Header> ownCredential)
      throws IOException {
    boolean upgraded = false;
    Thread upload = null;
    try (Exchange.DisconnectWatch _ = watch()) {
      ConnectionReader in = new ConnectionReader(connection);
      ResponseHead head;
      try (IdleTimeout watch = new IdleTimeout(timeout)) {
        try {
          write(
              connection, head(target, HeaderFilter.toSandbox(exchange, guestHost, ownCredential)));
          if (exchange.length() != 0) {
            upload =
                Thread.ofVirtual()
                    .name("isola-preview-upload")
                    .start(() -> upload(connection, watch));
          }
          head = ResponseHead.read(in);
        } catch (IOException e) {
          throw requestFailed(watch, e);
        }
      }
      upgraded = sendResponse(head, in, connection);
    } finally {
      if (!upgraded) {
        connection.close();
      }
      stopUpload(upload);
    }
  }

  /**
   * Watches for a disconnect by reading from the connection, which is only possible while no body
   * is read.
   */
  private Exchange.DisconnectWatch watch() {
    boolean idle =
        exchange.length() == 0 && HeaderFilter.requestedUpgrade(exchange.headers()).isEmpty();
    return idle ? exchange.interruptOnDisconnect() : () -> {};
  }

  private byte[] head(String target, List<Header> headers) {
    StringBuilder head =
        new StringBuilder(exchange.method()).append(' ').append(target).append(" HTTP/1.1\r\n");
    headers.forEach(one -> head.append(one.name()).append(": ").append(one.value()).append("\r\n"));
    return head.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1);
  }

  private boolean sendResponse(
      ResponseHead head, ConnectionReader in, PortDialing.Connection connection)
      throws IOException {
    boolean upgradeRequested = HeaderFilter.requestedUpgrade(exchange.headers()).isPresent();
    List<Header> headers =
        new ArrayList<>(HeaderFilter.toClient(head, exchange.prefix(), exchange.header("Host")));
    if (head.isSwitchingProtocols()) {
      if (!upgradeRequested) {
        throw badResponse("it switched protocols without a request to do so");
      }
      exchange.tunnel(headers, connection, in.buffered());
      return true;
    }
    ResponseHead.Framing framing;
    try {
      framing = head.framing(exchange.method());
    } catch (MalformedResponse e) {
      throw badResponse(e.getMessage());
    }
    switch (framing) {
      case ResponseHead.Framing.FixedLength(long bytes) ->
          headers.add(new Header("Content-Length", Long.toString(bytes)));
      case ResponseHead.Framing.None() ->
          Header.first(head.headers(), "Content-Length")
              .filter(any -> head.status() != 204)
              .ifPresent(length -> headers.add(new Header("Content-Length", length)));
      // Watching for a disconnect may have consumed input, so the connection cannot be reused.
      // The response is chunked nevertheless, so that the client can detect truncation.
      case ResponseHead.Framing.Chunked(), ResponseHead.Framing.UntilClose() ->
          headers.addAll(
              List.of(
                  new Header("Connection", "close"), new Header("Transfer-Encoding", "chunked")));
    }
    ResponseBody body = new ResponseBody(in, framing);
    byte[] buffer = new byte[BUFFER];
    // Closed only when the body is complete, so that the client can detect truncation.
    OutputStream out = exchange.begin(head.status(), headers);
    if (!(framing instanceof ResponseHead.Framing.FixedLength)) {
      out.flush(); // the first byte of the body may take a while
    }
    for (int read = readFirst(body, buffer); read >= 0; read = body.read(buffer)) {
      out.write(buffer, 0, read);
    }
    out.close();
    return false;
  }

  /** Reads the first bytes. Until they are sent, an error can still be reported. */
  private int readFirst(ResponseBody body, byte[] buffer) throws IOException {
    try {
      return body.read(buffer);
    } catch (MalformedResponse | EOFException e) {
      throw badResponse(e.getMessage());
    }
  }

  private void upload(PortDialing.Connection connection, IdleTimeout watch) {
    boolean chunked = exchange.length() < 0;
    byte[] buffer = new byte[BUFFER];
    try (InputStream content = exchange.content()) {
      for (int read = content.read(buffer); read >= 0; read = content.read(buffer)) {
        watch.reset();
        if (chunked && read > 0) {
          write(
              connection,
              (Integer.toHexString(read).toUpperCase(Locale.ROOT) + "\r\n")
                  .getBytes(StandardCharsets.US_ASCII));
        }
        write(connection, ByteBuffer.wrap(buffer, 0, read));
        if (chunked && read > 0) {
          write(connection, "\r\n".getBytes(StandardCharsets.US_ASCII));
        }
        watch.reset();
      }
      if (chunked) {
        write(connection, "0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      }
    } catch (IOException e) {
      // Either the client disconnected, or the sandbox stopped reading and may still send a
      // response.
      connection.shutdownOutput();
    }
  }

  private static void write(PortDialing.Connection connection, byte[] bytes) throws IOException {
    write(connection, ByteBuffer.wrap(bytes));
  }

  private static void write(PortDialing.Connection connection, ByteBuffer bytes)
      throws IOException {
    while (bytes.hasRemaining()) {
      connection.write(bytes);
    }
  }

  /** Stops the upload; the request body must not be read after the handler returns. */
  private static void stopUpload(@Nullable Thread upload) {
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

  private SandboxException requestFailed(IdleTimeout watch, IOException why) throws IOException {
    if (watch.isExpired()) {
      return Fault.of(
              ErrorCode.DEADLINE_EXCEEDED,
              "port " + port + " did not begin to respond within " + timeout.toSeconds() + " s",
              "check the service on this port; it should send the response head early")
          .sandbox(sandbox)
          .exception(why);
    }
    if (Thread.currentThread().isInterrupted()) {
      throw why; // the client disconnected, or the server is shutting down
    }
    return badResponse(why.getMessage() == null ? "the connection was lost" : why.getMessage());
  }

  private SandboxException badResponse(@Nullable String why) {
    return Fault.of(
            ErrorCode.OUTCOME_UNKNOWN,
            "the service on port " + port + " sent no valid HTTP/1.1 response: " + why,
            "check the log of the service; the request may have had an effect")
        .sandbox(sandbox)
        .exception();
  }
}
