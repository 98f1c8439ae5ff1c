package dev.isola.server.route;

import dev.isola.server.auth.ApiKey;
import dev.isola.server.auth.Session;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.error.ErrorCode;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A request with validated parameters and body, and its response. */
public interface Exchange {

  /** Returns the id of this request in logs and errors. */
  String requestId();

  /** Returns the authenticated key; empty on a route that requires none. */
  Optional<ApiKey> key();

  /** Returns the session of the browser, if the request has one in place of a key. */
  Optional<Session> session();

  /**
   * Finds the key for a credential in the body, with the checks and limits of credentials in
   * headers. A page of another origin may not send one.
   *
   * @throws dev.isola.spi.error.Unauthenticated when the credential is invalid
   */
  ApiKey authenticate(String credential);

  /**
   * Returns whether so many sign-ins of the client failed that the next one must be refused
   * unchecked. For handlers that need another server to check it, which clients must not flood.
   */
  boolean isBlocked();

  /** Counts a failed sign-in of the client. */
  void recordAuthFailure();

  /** Returns the sandbox that the path names, on a route with one. */
  SandboxId sandbox();

  /** Returns a path parameter, except the one that names a sandbox. */
  String path(String name);

  Optional<String> query(String name);

  List<String> queries(String name);

  Optional<String> header(String name);

  /** Returns the headers with this prefix. Their names are in lower case and without the prefix. */
  Map<String, String> headersWithPrefix(String prefix);

  /** Returns whether the request was sent over TLS. */
  boolean isSecure();

  /** Returns the JSON body; empty if the route has none. */
  Map<String, Object> body();

  /** Returns a required string field of the body. */
  default String text(String field) {
    return (String) required(field);
  }

  /** Returns a required integer field of the body. */
  default long wholeNumber(String field) {
    return ((Number) required(field)).longValue();
  }

  private Object required(String field) {
    Object value = body().get(field);
    if (value == null) {
      throw new IllegalStateException("the route does not require the field " + field);
    }
    return value;
  }

  /** Returns the body as a stream. */
  InputStream content();

  /**
   * Sends a JSON response.
   *
   * @param answer a map, or a list of maps
   */
  void json(int status, Object answer) throws IOException;

  /** Adds a header to a response that has not begun. */
  void addHeader(String header, String value);

  void noContent() throws IOException;

  /** Begins a streamed response. Writing blocks while the client is slow. */
  OutputStream begin(int status, String mediaType, Map<String, String> headers) throws IOException;

  /**
   * Interrupts the calling thread when the client disconnects, until the result is closed. For work
   * that is useless without the client.
   */
  DisconnectWatch interruptOnDisconnect();

  /**
   * Makes the connection end with a reset instead of a regular close. For a stream that ends early
   * although the server works: some clients report a regular close as a timeout of the request, and
   * only a reset as a lost peer.
   */
  void resetOnClose();

  /** A watch on the connection; closing it ends the watch. */
  interface DisconnectWatch extends AutoCloseable {
    @Override
    void close();
  }

  /**
   * Upgrades the connection to a WebSocket and runs {@code session} on a thread of its own. No
   * other response may be sent.
   *
   * @param protocol the subprotocol that the client must offer
   * @throws dev.isola.spi.error.InvalidRequest when the request is not a WebSocket handshake with
   *     this subprotocol
   */
  void webSocket(String protocol, WebSocket.Session session);

  /**
   * Upgrades the connection to another protocol and copies bytes between the client and {@code
   * other} from now on. No other response may be sent.
   *
   * @param protocol the value of the header {@code Upgrade}
   * @param other closed when the client disconnects, and if this method throws
   * @throws dev.isola.spi.error.InvalidRequest when the client does not request this protocol
   */
  void upgrade(String protocol, PortDialing.Connection other) throws IOException;

  /**
   * Returns whether another server of the installation owns a sandbox, for a handler that learns
   * from the body which sandbox a request concerns. Such a handler calls {@link #passToOwner}
   * before it does or answers anything.
   */
  boolean isOwnedElsewhere(SandboxId sandbox);

  /**
   * Passes the request on to the server that owns a sandbox, if this server does not.
   *
   * @param body the body, which the handler has read
   * @return whether the request was passed on; the handler then must not answer
   */
  boolean passToOwner(SandboxId sandbox, byte[] body) throws IOException;

  /** Passes the request on like the other method, with a body of which nothing was read. */
  boolean passToOwner(SandboxId sandbox) throws IOException;

  /** Sets the sandbox of this request for the logs, if it is not in the path. */
  void setSandbox(SandboxId sandbox);

  /**
   * Sets the actor of this request for the logs, if the handler authenticates the client.
   *
   * @param name one of {@link dev.isola.server.auth.Actor}, or the name of a key
   */
  void setActor(String name);

  /**
   * Sets what the logs report of a request that names its operation in the body.
   *
   * @param action the operation; one of few values, never text of the client
   * @param error the error code, if the operation failed although the status says that it did not
   */
  void setOperation(String action, Optional<ErrorCode> error);

  /** Returns whether the server is shutting down, in which case endless streams must end. */
  boolean isShuttingDown();
}
