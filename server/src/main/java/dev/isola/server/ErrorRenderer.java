package dev.isola.server;

import dev.isola.codec.json.Json;
import dev.isola.engine.api.Log;
import dev.isola.server.error.ErrorStatus;
import dev.isola.server.error.Problem;
import dev.isola.server.limit.RateLimiter;
import dev.isola.server.peer.PeerServers;
import dev.isola.server.route.ApiDialect;
import dev.isola.spi.error.Category;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/**
 * Renders exceptions as error responses. Internal errors are also logged.
 *
 * @param shuttingDown whether the connection is closed after an error, so that the client's next
 *     request goes to another server
 */
record ErrorRenderer(Log log, BooleanSupplier shuttingDown) {

  /** The detail of an error that becomes the header Allow. */
  static final String ALLOW = "allow";

  /** Writes the error response, or aborts the connection if another response has begun. */
  void render(
      Request request,
      Response response,
      Callback callback,
      RequestLogEntry logEntry,
      Throwable thrown) {
    boolean clientLeft = thrown instanceof IOException;
    if (!clientLeft
        && !(thrown instanceof SandboxException known && known.category() != Category.BUG)) {
      log.warning("request " + logEntry.id + " failed: " + trace(thrown));
    }
    if (response.isCommitted()) {
      // The response is incomplete, and the client must be able to detect that.
      callback.failed(thrown);
      return;
    }
    try {
      Thread.interrupted(); // the response must still be written
      RequestBodyDrain drain = new RequestBodyDrain(request);
      boolean bodyLeft = !clientLeft && !drain.isComplete();
      response.reset();
      RequestPipeline.putDefaultHeaders(response, logEntry.id);
      if (bodyLeft || shuttingDown.getAsBoolean()) {
        response.getHeaders().put("Connection", "close");
      }
      Fault fault =
          clientLeft
              ? Fault.of(
                  ErrorCode.INVALID_REQUEST,
                  "the request body is incomplete",
                  "send the whole body, without pauses of more than 30 s")
              : Problem.fault(thrown);
      ApiDialect.ErrorResponse problem =
          logEntry.dialect.error(fault, logEntry.id, logEntry.sandbox);
      logEntry.code = Optional.of(fault.code().name());
      if (thrown instanceof SandboxException known
          && known.fault().context().containsKey(RateLimiter.RETRY_AFTER)) {
        response
            .getHeaders()
            .put("Retry-After", known.fault().context().get(RateLimiter.RETRY_AFTER));
      }
      if (fault.context().containsKey(ALLOW) && fault.code() == ErrorCode.METHOD_NOT_ALLOWED) {
        response.getHeaders().put("Allow", fault.context().get(ALLOW));
      }
      if (problem.status() == ErrorStatus.of(ErrorCode.UNAUTHENTICATED)) {
        response.getHeaders().put("WWW-Authenticate", "Bearer");
      }
      byte[] text = Json.bytes(problem.body());
      JettyExchange.writeResponse(response, problem.status(), problem.mediaType(), text);
      if (bodyLeft) {
        drain.discardRest();
      }
      callback.succeeded();
    } catch (IOException | RuntimeException e) {
      callback.failed(e); // the client disconnected
    }
  }

  /** Answers another server that passed a request on for a sandbox that this one does not own. */
  void renderMisdirected(Request request, Response response, Callback callback) {
    try {
      RequestBodyDrain drain = new RequestBodyDrain(request);
      boolean bodyLeft = !drain.isComplete();
      response.reset();
      response.getHeaders().put(PeerServers.HEADER, PeerServers.MOVED);
      if (bodyLeft || shuttingDown.getAsBoolean()) {
        response.getHeaders().put("Connection", "close");
      }
      JettyExchange.writeResponse(response, PeerServers.MISDIRECTED, "text/plain", new byte[0]);
      callback.succeeded();
    } catch (IOException | RuntimeException e) {
      callback.failed(e); // the other server disconnected
    }
  }

  private static String trace(Throwable thrown) {
    StringWriter text = new StringWriter();
    thrown.printStackTrace(new PrintWriter(text, true));
    return text.toString();
  }
}
