package dev.isola.compat.e2b.envd;

import dev.isola.codec.connect.ConnectFrame;
import dev.isola.compat.e2b.model.E2bDialect;
import dev.isola.server.auth.Scope;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.JsonText;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Answer;
import dev.isola.server.route.Route.Body;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.util.Map;

/**
 * Rows for the calls of a service.
 *
 * @param service as the protocol names it, such as {@code process.Process}
 */
record Calls(String service) {

  /** A call with one message each way. */
  interface Unary {
    Map<String, ?> answer(Exchange exchange, Message message) throws IOException;
  }

  /** A call whose answer goes on. */
  interface Streaming {
    /** Does the first half; what it throws is told as the end of a stream. */
    Rest begin(Exchange exchange) throws IOException;

    /** The other half, which sends; what it throws cuts the stream. */
    interface Rest {
      void send() throws IOException;
    }
  }

  Route unary(String method, String summary, Unary call) {
    return row(method, summary)
        .takes(new Body.Stream("application/json"))
        .answers(Answer.of("application/json", "it worked"))
        .by(
            exchange -> {
              byte[] body = JsonText.bytes(exchange.content(), Frames.LARGEST);
              Message message = new Message(body.length == 0 ? Map.of() : JsonText.object(body));
              exchange.json(200, call.answer(exchange, message));
            });
  }

  Route streaming(String method, String summary, Streaming call) {
    return row(method, summary)
        .takes(new Body.Stream(ConnectFrame.MEDIA_TYPE))
        .answers(Answer.of(ConnectFrame.MEDIA_TYPE, "messages, and an end that says why"))
        .by(
            exchange -> {
              Streaming.Rest rest;
              try {
                rest = call.begin(exchange);
              } catch (SandboxException e) {
                Frames.refuse(exchange, e);
                return;
              }
              rest.send();
            });
  }

  private Route row(String method, String summary) {
    String template = EnvdRoutes.PREFIX + "{id}/" + service + "/" + method;
    return Route.of("POST", template, "envd" + method, summary)
        .needs(Scope.USE)
        .acceptsSandboxTokens()
        .of(E2bDialect.CONNECT);
  }
}
