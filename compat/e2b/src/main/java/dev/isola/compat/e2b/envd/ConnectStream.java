package dev.isola.compat.e2b.envd;

import dev.isola.codec.connect.ConnectFrame;
import dev.isola.codec.json.Json;
import dev.isola.compat.e2b.model.E2bError;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.JsonBody;
import dev.isola.spi.error.SandboxException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Map;
import java.util.Optional;

/**
 * Writes a response stream of the Connect protocol. Messages that are added together are sent
 * together. A stream that is not finished is cut with a reset of the connection, so that no client
 * takes it for complete. Until it is finished, the calling thread is interrupted when the client
 * disconnects.
 */
final class ConnectStream implements AutoCloseable {
  /** The largest message that is read. */
  static final int MAX_MESSAGE = 4 << 20;

  private static final int FLUSH_THRESHOLD = 64 * 1024;

  private final OutputStream out;
  private final Exchange.DisconnectWatch watched;
  private final Runnable reset;
  private final ByteArrayOutputStream buffered = new ByteArrayOutputStream();

  private boolean finished;

  private ConnectStream(OutputStream out, Exchange.DisconnectWatch watched, Runnable reset) {
    this.out = out;
    this.watched = watched;
    this.reset = reset;
  }

  /**
   * Begins a stream. The request body must have been read completely: later input is taken for the
   * next request.
   */
  static ConnectStream begin(Exchange exchange) throws IOException {
    return new ConnectStream(
        exchange.begin(200, ConnectFrame.MEDIA_TYPE, Map.of()),
        exchange.interruptOnDisconnect(),
        exchange::resetOnClose);
  }

  /** Reads the next message; empty at the end of the stream. */
  static Optional<ConnectMessage> read(InputStream in) throws IOException {
    try {
      return ConnectFrame.read(in, MAX_MESSAGE)
          .filter(frame -> !frame.isEnd())
          .map(frame -> new ConnectMessage(JsonBody.object(frame.json())));
    } catch (ConnectFrame.MalformedFrame e) {
      throw ConnectMessage.invalid(String.valueOf(e.getMessage()));
    }
  }

  /** Reads the first message of a request. */
  static ConnectMessage readFirst(Exchange exchange) throws IOException {
    return read(exchange.content())
        .orElseThrow(() -> ConnectMessage.invalid("the request contains no message"));
  }

  /** Reads the only message of a request. */
  static ConnectMessage readSingle(Exchange exchange) throws IOException {
    ConnectMessage message = readFirst(exchange);
    if (exchange.content().read() >= 0) {
      throw ConnectMessage.invalid("the request contains more than one message");
    }
    return message;
  }

  void add(Map<String, ?> message) throws IOException {
    buffered.writeBytes(ConnectFrame.message(Json.bytes(message)));
    if (buffered.size() > FLUSH_THRESHOLD) {
      flush();
    }
  }

  boolean hasBuffered() {
    return buffered.size() > 0;
  }

  void flush() throws IOException {
    out.write(buffered.toByteArray());
    out.flush();
    buffered.reset();
  }

  /** Sends the buffered messages and a successful end of stream. */
  void finish() throws IOException {
    finish(Map.of());
  }

  /** Sends the buffered messages and an end of stream with an error. */
  void fail(E2bError why) throws IOException {
    finish(Map.of("error", why.body()));
  }

  private void finish(Map<String, ?> end) throws IOException {
    buffered.writeBytes(ConnectFrame.end(Json.bytes(end)));
    watched.close(); // from now on the client may send its next request
    finished = true;
    out.write(buffered.toByteArray());
    out.close();
  }

  /** Stops watching the connection. An unfinished stream stays unfinished. */
  @Override
  public void close() {
    watched.close();
    if (!finished) {
      reset.run();
    }
  }

  /**
   * Responds to a call that fails before its stream begins. Errors are sent in the stream, except
   * that a missing sandbox is reported by the HTTP status.
   */
  static void reject(Exchange exchange, SandboxException why) throws IOException {
    E2bError error = E2bError.connect(why.fault(), exchange.sandbox().value());
    if (error.isSandboxMissing()) {
      throw why;
    }
    // The request may not have been read completely, and no work depends on the client: the
    // connection is not watched.
    new ConnectStream(exchange.begin(200, ConnectFrame.MEDIA_TYPE, Map.of()), () -> {}, () -> {})
        .fail(error);
  }
}
