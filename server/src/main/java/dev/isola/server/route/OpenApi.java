package dev.isola.server.route;

import dev.isola.server.error.Problem;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Describes routes as an OpenAPI 3.1 document. Everything is derived from the routes and their
 * shapes. Every object is a named schema: generated clients make a class of each.
 */
public final class OpenApi {
  private static final Shape TEXT = new Shape.Text(65_536, "");

  /** The shape of every error response. */
  static final Shape.Obj PROBLEM =
      new Shape.Obj(
              Shape.Field.required("type", TEXT, "URN of the error: urn:isola:error:CODE")
                  .example("urn:isola:error:SANDBOX_NOT_FOUND"),
              Shape.Field.required("title", TEXT, "short description of the kind of error")
                  .example("Sandbox not found"),
              Shape.Field.required("status", new Shape.WholeNumber(400, 599), "HTTP status")
                  .example(404),
              Shape.Field.required("detail", TEXT, "what happened")
                  .example("sandbox box1 does not exist"),
              Shape.Field.required("code", TEXT, "stable error code").example("SANDBOX_NOT_FOUND"),
              Shape.Field.required(
                  "category",
                  new Shape.Choice(
                      "ProblemCategory", List.of("CALLER", "RESOURCE", "PROVIDER", "BUG")),
                  "which side must act"),
              Shape.Field.required("remedy", TEXT, "what to do next").example("list the sandboxes"),
              Shape.Field.required("requestId", TEXT, "id of the request in the server log")
                  .example("r1f2e3d4c5b6"),
              Shape.Field.required(
                  "timestamp", new Shape.Text(64, "date-time"), "time of the error"),
              Shape.Field.optional("sandbox", TEXT, "id of the affected sandbox"),
              Shape.Field.optional("command", TEXT, "the command that the error concerns"),
              Shape.Field.optional(
                  "exitCode", new Shape.WholeNumber(0, 999), "exit code of that command"),
              Shape.Field.optional("signal", TEXT, "signal that ended that command"),
              Shape.Field.optional("stderr", TEXT, "end of the stderr of that command"),
              Shape.Field.optional(
                  "spec",
                  new AnyObjectShape(),
                  "spec of the sandbox that could not be created; values of env, seedFiles and init"
                      + " are ***, secretEnv is a list of names"),
              Shape.Field.optional(
                  "context", new Shape.MapOf(TEXT), "further details for programs"))
          .named("Problem");

  private static final Map<String, Object> PROBLEM_REFERENCE =
      Map.of("$ref", "#/components/responses/Problem");

  private final Map<String, Object> schemas = new TreeMap<>();

  private OpenApi() {}

  public static Map<String, Object> describe(List<Route> routes, String version) {
    return new OpenApi().document(routes, version);
  }

  /** Returns the shape of every error response. */
  public static Shape.Obj problem() {
    return PROBLEM;
  }

  private Map<String, Object> document(List<Route> routes, String version) {
    Map<String, Object> paths = new LinkedHashMap<>();
    for (Route route : routes) {
      @SuppressWarnings("unchecked") // filled only here
      Map<String, Object> path =
          (Map<String, Object>)
              paths.computeIfAbsent(route.template(), any -> new LinkedHashMap<String, Object>());
      path.put(route.method().toLowerCase(Locale.ROOT), operation(route));
    }
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("openapi", "3.1.0");
    Map<String, Object> info = new LinkedHashMap<>();
    info.put("title", "Isola");
    info.put("version", version);
    info.put(
        "description",
        "One API for any sandbox. No field may be null, and no text may contain a NUL character."
            + " A path answers any other method with 405 and Allow.");
    document.put("info", info);
    document.put("servers", List.of(Map.of("url", "/")));
    document.put(
        "tags",
        routes.stream()
            .map(RouteTag::of)
            .distinct()
            .map(tag -> Map.of("name", tag.word(), "description", tag.summary()))
            .toList());
    document.put("paths", paths);
    Map<String, Object> problem = new LinkedHashMap<>();
    problem.put("description", "an error as a problem document (RFC 9457)");
    problem.put("content", content(Problem.MEDIA_TYPE, PROBLEM, true));
    document.put(
        "components",
        Map.of(
            "schemas",
            schemas,
            "responses",
            Map.of("Problem", problem),
            "securitySchemes",
            Map.of(
                "bearer",
                Map.of(
                    "type",
                    "http",
                    "scheme",
                    "bearer",
                    "description",
                    "an API key or, where its description says so, a token of the sandbox"))));
    return document;
  }

  private Map<String, Object> operation(Route route) {
    Map<String, Object> operation = new LinkedHashMap<>();
    operation.put("operationId", route.name());
    operation.put("tags", List.of(RouteTag.of(route).word()));
    operation.put("summary", route.summary());
    route
        .scope()
        .ifPresent(
            scope -> {
              operation.put("security", List.of(Map.of("bearer", List.of())));
              operation.put("x-scope", scope.word());
              operation.put("x-sandbox-tokens", route.sandboxTokens());
            });
    List<Map<String, Object>> parameters = new ArrayList<>();
    route.parameters().forEach(one -> parameters.add(parameter(one)));
    if (!parameters.isEmpty()) {
      operation.put("parameters", parameters);
    }
    switch (route.body()) {
      case Route.Body.None(), Route.Body.Forwarded() -> {}
      case Route.Body.Json(Shape shape, boolean required) ->
          operation.put(
              "requestBody",
              Map.of(
                  "required",
                  required,
                  "content",
                  content("application/json", named(shape, route, "Request"), true)));
      case Route.Body.Stream(String mediaType) ->
          // Without a body the content is empty, which HTTP does not distinguish.
          operation.put(
              "requestBody", Map.of("required", false, "content", Map.of(mediaType, binary())));
    }
    operation.put("responses", responses(route));
    return operation;
  }

  private Map<String, Object> responses(Route route) {
    Route.Response response = route.answers();
    Map<String, Object> all = new TreeMap<>();
    all.put(Integer.toString(response.status()), response(route, response.summary(), true));
    response
        .others()
        .forEach(
            (status, summary) ->
                all.put(Integer.toString(status), response(route, summary, false)));
    if (!route.parameters().isEmpty() || route.body() instanceof Route.Body.Json) {
      all.put("400", PROBLEM_REFERENCE);
    }
    if (route.scope().isPresent()) {
      all.put("401", PROBLEM_REFERENCE);
      all.put("403", PROBLEM_REFERENCE);
    }
    if (route.template().contains("{")) {
      all.put("404", PROBLEM_REFERENCE);
    }
    all.put("default", PROBLEM_REFERENCE);
    return all;
  }

  private Map<String, Object> response(Route route, String summary, boolean example) {
    Route.Response declared = route.answers();
    Map<String, Object> response = new LinkedHashMap<>();
    response.put("description", summary);
    if (declared.shape().isPresent()) {
      Shape shape = named(declared.shape().get(), route, "Response");
      Map<String, Object> content = content(declared.mediaType(), shape, example);
      if (declared.html()) {
        content.put("text/html", Map.of("schema", Map.of("type", "string")));
      }
      response.put("content", content);
    } else if (declared.mediaType().startsWith("text/")) {
      response.put(
          "content", Map.of(declared.mediaType(), Map.of("schema", Map.of("type", "string"))));
    } else if (!declared.mediaType().isEmpty()) {
      response.put("content", Map.of(declared.mediaType(), binary()));
    }
    return response;
  }

  /** Names an object that has no name after its operation. */
  private static Shape named(Shape shape, Route route, String suffix) {
    return shape instanceof Shape.Obj object && object.component().isEmpty()
        ? object.named(
            Character.toUpperCase(route.name().charAt(0)) + route.name().substring(1) + suffix)
        : shape;
  }

  private Map<String, Object> content(String mediaType, Shape shape, boolean example) {
    collect(shape);
    Map<String, Object> content = new LinkedHashMap<>();
    content.put("schema", shape.schema());
    if (example) {
      content.put("example", shape.example());
    }
    return new LinkedHashMap<>(Map.of(mediaType, content));
  }

  /** Adds the named schemas of a shape to the components. */
  private void collect(Shape shape) {
    Optional<String> name = shape.component();
    if (name.isPresent()) {
      Map<String, Object> definition = shape.definition();
      Object before = schemas.putIfAbsent(name.get(), definition);
      if (before != null) {
        if (!before.equals(definition)) {
          throw new IllegalStateException("two schemas are named " + name.get());
        }
        return;
      }
    }
    shape.parts().forEach(this::collect);
  }

  /** Describes bytes in the way that generators of clients understand. */
  private static Map<String, Object> binary() {
    return Map.of("schema", Map.of("type", "string", "format", "binary"));
  }

  private Map<String, Object> parameter(Parameter parameter) {
    collect(parameter.shape());
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("name", parameter.name());
    json.put("in", parameter.where().name().toLowerCase(Locale.ROOT));
    json.put("required", parameter.required());
    json.put("description", parameter.summary());
    json.put(
        "schema",
        parameter.repeatable()
            ? Map.of("type", "array", "items", parameter.shape().schema())
            : parameter.shape().schema());
    return json;
  }
}
