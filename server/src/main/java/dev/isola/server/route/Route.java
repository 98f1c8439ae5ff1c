package dev.isola.server.route;

import dev.isola.server.auth.Scope;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * One row of the table: what comes in, who may ask, what goes out.
 *
 * @param template such as {@code /api/v1/sandboxes/{id}}
 * @param scope what the key must allow; empty when no key is needed
 * @param body what is read as JSON before the handler is called
 * @param answers what goes out when it works
 * @param dialect in which credentials are shown and errors written
 * @param sandboxTokens whether the token of a sandbox is accepted where a key is. Only for what
 *     stays within that sandbox and ends with it: whatever makes, opens or keeps anything else
 *     needs a key
 */
public record Route(
    String method,
    String template,
    String name,
    String summary,
    Optional<Scope> scope,
    List<Parameter> parameters,
    Body body,
    Response answers,
    Handler handler,
    ApiDialect dialect,
    boolean sandboxTokens) {

  private static final Set<String> STREAMS =
      Set.of("text/event-stream", "application/connect+json");

  /** What a request carries. */
  public sealed interface Body {
    /** Nothing; what is sent nevertheless is not read. */
    record None() implements Body {}

    /**
     * A JSON object.
     *
     * @param required an absent one is an empty object otherwise
     */
    record Json(Shape shape, boolean required) implements Body {}

    /** Bytes, which the handler streams. */
    record Stream(String mediaType) implements Body {}

    /**
     * Whatever somebody else understands, such as a sandbox: nothing of the request is checked, and
     * the last parameter of the template stands for all the rest of the path.
     */
    record Forwarded() implements Body {}
  }

  /**
   * What is answered.
   *
   * @param shape of JSON; empty where it is something else
   */
  public record Response(int status, String mediaType, Optional<Shape> shape, String summary) {
    public static Response json(int status, Shape shape) {
      return new Response(status, "application/json", Optional.of(shape), "it worked");
    }

    public static Response none() {
      return new Response(204, "", Optional.empty(), "it worked; there is nothing to tell");
    }

    public static Response of(String mediaType, String summary) {
      return new Response(200, mediaType, Optional.empty(), summary);
    }
  }

  /** Does the work. What it throws becomes a problem answer. */
  public interface Handler {
    void handle(Exchange exchange) throws Exception;
  }

  public Route {
    parameters = List.copyOf(parameters);
  }

  public static Route of(String method, String template, String name, String summary) {
    return new Route(
        method,
        template,
        name,
        summary,
        Optional.of(Scope.READ),
        List.of(),
        new Body.None(),
        Response.none(),
        exchange -> {
          throw new IllegalStateException("nobody handles " + template);
        },
        new NativeDialect(),
        false);
  }

  /** Tells whether its answer goes on for as long as somebody reads it. */
  public boolean isStreaming() {
    return STREAMS.contains(answers.mediaType());
  }

  public Route withoutKey() {
    return new Route(
        method,
        template,
        name,
        summary,
        Optional.empty(),
        parameters,
        body,
        answers,
        handler,
        dialect,
        sandboxTokens);
  }

  public Route needs(Scope needed) {
    return new Route(
        method,
        template,
        name,
        summary,
        Optional.of(needed),
        parameters,
        body,
        answers,
        handler,
        dialect,
        sandboxTokens);
  }

  public Route takes(Parameter... more) {
    List<Parameter> all = new ArrayList<>(parameters);
    all.addAll(List.of(more));
    return new Route(
        method,
        template,
        name,
        summary,
        scope,
        all,
        body,
        answers,
        handler,
        dialect,
        sandboxTokens);
  }

  public Route takes(Body content) {
    return new Route(
        method,
        template,
        name,
        summary,
        scope,
        parameters,
        content,
        answers,
        handler,
        dialect,
        sandboxTokens);
  }

  public Route answers(Response answer) {
    return new Route(
        method,
        template,
        name,
        summary,
        scope,
        parameters,
        body,
        answer,
        handler,
        dialect,
        sandboxTokens);
  }

  public Route handledBy(Handler doing) {
    return new Route(
        method,
        template,
        name,
        summary,
        scope,
        parameters,
        body,
        answers,
        doing,
        dialect,
        sandboxTokens);
  }

  public Route of(ApiDialect whose) {
    return new Route(
        method,
        template,
        name,
        summary,
        scope,
        parameters,
        body,
        answers,
        handler,
        whose,
        sandboxTokens);
  }

  /** Accepts the token of the sandbox that the path names. */
  public Route acceptsSandboxTokens() {
    return new Route(
        method, template, name, summary, scope, parameters, body, answers, handler, dialect, true);
  }
}
