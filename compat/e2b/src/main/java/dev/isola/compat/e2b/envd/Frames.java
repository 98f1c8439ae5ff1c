package dev.isola.compat.e2b.envd;

import dev.isola.codec.connect.ConnectFrame;
import dev.isola.codec.json.Json;
import dev.isola.compat.e2b.model.E2bError;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.JsonText;
import dev.isola.spi.error.SandboxException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Map;
import java.util.Optional;

/**
 * The messages of a stream of the Connect protocol. They go out together when they come together. A
 * stream that is not finished is cut, so that no client takes it for whole. Until then the calling
 * thread is interrupted when the client goes away.
 */
final class Frames implements AutoCloseable {
  /** The largest message that is read. */
  static final int LARGEST = 4 << 20;

  private static final int PILE = 64 * 1024;

  private final OutputStream out;
  private final Exchange.Watched watched;
  private final ByteArrayOutputStream waiting = new ByteArrayOutputStream();

  private Frames(OutputStream out, Exchange.Watched watched) {
    this.out = out;
    this.watched = watched;
  }

  /** Begins a stream. The request must have been read to its end: what follows it is the next. */
  static Frames begin(Exchange exchange) throws IOException {
    return new Frames(
        exchange.begin(200, ConnectFrame.MEDIA_TYPE, Map.of()), exchange.whileWanted());
  }

  /** Reads the next message; empty at the end. */
  static Optional<Message> read(InputStream in) throws IOException {
    try {
      return ConnectFrame.read(in, LARGEST)
          .filter(frame -> !frame.isEnd())
          .map(frame -> new Message(JsonText.object(frame.json())));
    } catch (ConnectFrame.MalformedFrame e) {
      throw Message.refused(String.valueOf(e.getMessage()));
    }
  }

  /** Reads the first message of a request. */
  static Message first(Exchange exchange) throws IOException {
    return read(exchange.content()).orElseThrow(() -> Message.refused("there is no message"));
  }

  /** Reads the only message of a request. */
  static Message only(Exchange exchange) throws IOException {
    Message message = first(exchange);
    if (exchange.content().read() >= 0) {
      throw Message.refused("there is more than one message");
    }
    return message;
  }

  void add(Map<String, ?> message) throws IOException {
    waiting.writeBytes(ConnectFrame.message(Json.bytes(message)));
    if (waiting.size() > PILE) {
      flush();
    }
  }

  boolean isWaiting() {
    return waiting.size() > 0;
  }

  void flush() throws IOException {
    out.write(waiting.toByteArray());
    out.flush();
    waiting.reset();
  }

  /** Sends what waits, and that this was all. */
  void finish() throws IOException {
    finish(Map.of());
  }

  /** Sends what waits, and why nothing follows. */
  void fail(E2bError why) throws IOException {
    finish(Map.of("error", why.body()));
  }

  private void finish(Map<String, ?> end) throws IOException {
    waiting.writeBytes(ConnectFrame.end(Json.bytes(end)));
    watched.close(); // the client may send its next request from now on
    out.write(waiting.toByteArray());
    out.close();
  }

  /** Stops to look after the client; what was not finished is not finished by this. */
  @Override
  public void close() {
    watched.close();
  }

  /**
   * Answers a stream that does not begin. Errors are told in it; but that the sandbox is gone is
   * told by the status.
   */
  static void refuse(Exchange exchange, SandboxException why) throws IOException {
    E2bError error = E2bError.connect(why.fault(), exchange.path("id"));
    if (error.isGone()) {
      throw why;
    }
    // The request may not have been read to its end, and nobody waits: the client is not watched.
    new Frames(exchange.begin(200, ConnectFrame.MEDIA_TYPE, Map.of()), () -> {}).fail(error);
  }
}
