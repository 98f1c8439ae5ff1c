package dev.isola.server.route;

import dev.isola.server.auth.ApiKey;
import dev.isola.spi.SandboxId;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A request whose parameters and body are checked, and the way to answer it. */
public interface Exchange {

  /** Names this request in logs and errors. */
  String requestId();

  /** Returns the key that was shown; empty on a route that needs none. */
  Optional<ApiKey> key();

  /** Returns a parameter of the path. */
  String path(String name);

  Optional<String> query(String name);

  List<String> queries(String name);

  Optional<String> header(String name);

  /** Returns the headers whose names begin so, in lower case and without that. */
  Map<String, String> headersWithPrefix(String prefix);

  /** Tells whether nobody on the way could read it. */
  boolean isSecure();

  /** Returns the JSON body; empty when the route takes none. */
  Map<String, Object> body();

  /** Returns a text of the body that the route needs. */
  default String text(String field) {
    return (String) required(field);
  }

  /** Returns a whole number of the body that the route needs. */
  default long wholeNumber(String field) {
    return ((Number) required(field)).longValue();
  }

  private Object required(String field) {
    Object value = body().get(field);
    if (value == null) {
      throw new IllegalStateException("the route does not need the field " + field);
    }
    return value;
  }

  /** Returns the bytes of the body as they arrive. */
  InputStream content();

  /**
   * @param answer a map, or a list of them
   */
  void json(int status, Object answer) throws IOException;

  /** Adds a header to an answer that has not begun. */
  void addHeader(String header, String value);

  void noContent() throws IOException;

  /** Begins an answer of bytes; what is written goes out as the client takes it. */
  OutputStream begin(int status, String mediaType, Map<String, String> headers) throws IOException;

  /**
   * Interrupts the calling thread when the client goes away, until the result is closed. For work
   * that only the client wants.
   */
  DisconnectWatch interruptOnDisconnect();

  /** Ends a watch. */
  interface DisconnectWatch extends AutoCloseable {
    @Override
    void close();
  }

  /**
   * Turns the connection into a WebSocket and goes on with {@code conversation} on a thread of its
   * own. Nothing else may be answered.
   *
   * @param protocol which the client has to offer
   * @throws dev.isola.spi.error.InvalidRequest when this is no such request
   */
  void webSocket(String protocol, WebSocket.Session conversation);

  /** Says which sandbox it is about, where the path does not. */
  void setSandbox(SandboxId sandbox);

  /**
   * Says which credential it came in by, where the handler finds that out, for the logs.
   *
   * @param name one of {@link dev.isola.server.auth.Actor}, or the name of a key
   */
  void setActor(String name);

  /** Returns true when the server is ending: streams that have no end of their own end then. */
  boolean isShuttingDown();
}
