package dev.isola.server.route;

import dev.isola.server.auth.Scope;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A route: request, required scope and response.
 *
 * @param template the path, such as {@code /api/v1/sandboxes/{id}}
 * @param scope the scope that the key needs; empty if no key is required
 * @param body the body, which is parsed and validated before the handler is called if it is JSON
 * @param answers the successful response
 * @param dialect how credentials are sent and errors are rendered
 * @param tokenAccess which sandbox tokens are accepted in place of a key
 * @param owner the sandbox whose owner must answer, where several servers share a ledger
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
    TokenAccess tokenAccess,
    OwnerLookup owner) {

  /** The path parameter that names a sandbox. */
  public static final String SANDBOX = "id";

  private static final String IN_PATH = "{" + SANDBOX + "}";

  private static final String JSON = "application/json";

  /** Media types of responses that are small, so that HEAD may produce and discard them. */
  private static final Set<String> SMALL = Set.of(JSON, "text/html", "text/plain");

  private static final Set<String> STREAMS =
      Set.of("text/event-stream", "application/connect+json");

  /**
   * Which sandbox tokens a route accepts in place of a key. Only for operations within that sandbox
   * whose effect ends with it.
   */
  public enum TokenAccess {
    NONE,
    /** Tokens of the sandbox in the path. */
    PATH,
    /** Tokens of the sandbox that the query names, if it names exactly one. */
    QUERY,
    /** All tokens, for operations on the credential itself. */
    ANY
  }

  /** The body of a request. */
  public sealed interface Body {
    /** No body. If one is sent, it is not read. */
    record None() implements Body {}

    /**
     * A JSON object.
     *
     * @param required whether the body must be present; if not, an absent body is an empty object
     */
    record Json(Shape shape, boolean required) implements Body {}

    /** Bytes that the handler reads as a stream. */
    record Stream(String mediaType) implements Body {}

    /**
     * A request that is forwarded, for example to a sandbox. Nothing is validated, and the last
     * parameter of the template matches the rest of the path.
     */
    record Forwarded() implements Body {}
  }

  /**
   * The response of a route.
   *
   * @param shape the shape of a JSON response; empty for other content
   * @param others summaries of other successful responses with the same content, by status
   * @param html whether a browser gets a page instead
   * @param longPoll whether the response may be held back until something happens
   */
  public record Response(
      int status,
      String mediaType,
      Optional<Shape> shape,
      String summary,
      Map<Integer, String> others,
      boolean html,
      boolean longPoll) {
    public Response {
      others = Map.copyOf(others);
    }

    public Response(int status, String mediaType, Optional<Shape> shape, String summary) {
      this(status, mediaType, shape, summary, Map.of(), false, false);
    }

    public static Response json(int status, Shape shape) {
      return new Response(status, JSON, Optional.of(shape), "success");
    }

    public static Response none() {
      return new Response(204, "", Optional.empty(), "success, without content");
    }

    public static Response of(String mediaType, String summary) {
      return new Response(200, mediaType, Optional.empty(), summary);
    }

    /** Returns a copy that may also have another status. */
    public Response or(int otherStatus, String otherSummary) {
      return new Response(
          status, mediaType, shape, summary, Map.of(otherStatus, otherSummary), html, longPoll);
    }

    /** Returns a copy that is a page for clients that accept HTML. */
    public Response orHtml() {
      return new Response(status, mediaType, shape, summary, others, true, longPoll);
    }

    /** Returns a copy that may be held back, and counts as a stream of its key meanwhile. */
    public Response afterWaiting() {
      return new Response(status, mediaType, shape, summary, others, html, true);
    }
  }

  /** Handles a request. An exception is rendered as an error response. */
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
          throw new IllegalStateException("no handler for " + template);
        },
        new NativeDialect(),
        TokenAccess.NONE,
        template.contains(IN_PATH) ? OwnerLookup.BY_ID : OwnerLookup.NONE);
  }

  /** Returns whether the response is an endless stream or may be held back. */
  public boolean isStreaming() {
    return answers.longPoll() || STREAMS.contains(answers.mediaType());
  }

  /**
   * Returns whether the route also answers HEAD. Streams do not end, and reading files in vain is
   * expensive.
   */
  boolean answersHead() {
    return method.equals("GET")
        && dialect.isNative()
        && !answers.longPoll()
        && SMALL.contains(answers.mediaType());
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
        tokenAccess,
        owner);
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
        tokenAccess,
        owner);
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
        tokenAccess,
        owner);
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
        tokenAccess,
        owner);
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
        tokenAccess,
        owner);
  }

  public Route handledBy(Handler newHandler) {
    return new Route(
        method,
        template,
        name,
        summary,
        scope,
        parameters,
        body,
        answers,
        newHandler,
        dialect,
        tokenAccess,
        owner);
  }

  public Route of(ApiDialect newDialect) {
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
        newDialect,
        tokenAccess,
        owner);
  }

  /** Returns a copy that accepts tokens of the sandbox in the path. */
  public Route acceptsSandboxTokens() {
    return acceptsSandboxTokens(TokenAccess.PATH);
  }

  public Route acceptsSandboxTokens(TokenAccess access) {
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
        dialect,
        access,
        owner);
  }

  /**
   * Returns a copy that every server of an installation can answer, because the ledger is all that
   * it needs.
   */
  public Route answeredByAnyServer() {
    return answeredByOwner(OwnerLookup.NONE);
  }

  /** Returns a copy that the owner of a sandbox answers. */
  public Route answeredByOwner(OwnerLookup lookup) {
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
        dialect,
        tokenAccess,
        lookup);
  }

  /** Returns whether the path names a sandbox. */
  public boolean hasSandbox() {
    return template.contains(IN_PATH);
  }

  /** Returns whether some sandbox tokens are accepted in place of a key. */
  public boolean sandboxTokens() {
    return tokenAccess != TokenAccess.NONE;
  }
}
