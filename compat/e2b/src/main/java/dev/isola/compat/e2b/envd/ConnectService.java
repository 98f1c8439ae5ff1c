package dev.isola.compat.e2b.envd;

import dev.isola.codec.connect.ConnectFrame;
import dev.isola.compat.e2b.model.E2bDialect;
import dev.isola.server.auth.Scope;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.JsonBody;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Body;
import dev.isola.server.route.Route.Response;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.util.Map;

/**
 * Builds the routes of a Connect service.
 *
 * @param service the name in the protocol, such as {@code process.Process}
 */
record ConnectService(String service) {

  /** A call with one request and one response message. */
  interface Unary {
    Map<String, ?> call(Exchange exchange, ConnectMessage message) throws IOException;
  }

  /** A call that responds with a stream of messages. */
  interface Streaming {
    /** Validates the request and starts the work. An exception is sent as the end of the stream. */
    ResponseStream begin(Exchange exchange) throws IOException;

    /** Sends the messages. An exception cuts the stream. */
    interface ResponseStream {
      void send() throws IOException;
    }
  }

  Route unary(String method, String summary, Unary call) {
    return route(method, summary)
        .takes(new Body.Stream("application/json"))
        .answers(Response.of("application/json", "the response message"))
        .handledBy(
            exchange -> {
              byte[] body = JsonBody.bytes(exchange.content(), ConnectStream.MAX_MESSAGE);
              ConnectMessage message =
                  new ConnectMessage(body.length == 0 ? Map.of() : JsonBody.object(body));
              exchange.json(200, call.call(exchange, message));
            });
  }

  Route streaming(String method, String summary, Streaming call) {
    return route(method, summary)
        .takes(new Body.Stream(ConnectFrame.MEDIA_TYPE))
        .answers(
            Response.of(
                ConnectFrame.MEDIA_TYPE, "messages, then an end-of-stream message with the result"))
        .handledBy(
            exchange -> {
              Streaming.ResponseStream rest;
              try {
                rest = call.begin(exchange);
              } catch (SandboxException e) {
                ConnectStream.reject(exchange, e);
                return;
              }
              rest.send();
            });
  }

  private Route route(String method, String summary) {
    String template = EnvdRoutes.PREFIX + "{id}/" + service + "/" + method;
    return Route.of("POST", template, "envd" + method, summary)
        .needs(Scope.USE)
        .acceptsSandboxTokens()
        .of(E2bDialect.CONNECT);
  }
}
