package dev.isola.server.route;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Describes routes as an OpenAPI 3.1 document. */
public final class OpenApi {
  private static final Shape PROBLEM =
      new Shape.Obj(
          Shape.Field.required("type", text(), "URN of the error: urn:isola:error:CODE"),
          Shape.Field.required("title", text(), "short description of the kind of error"),
          Shape.Field.required("status", new Shape.WholeNumber(400, 599), "HTTP status"),
          Shape.Field.required("detail", text(), "what happened"),
          Shape.Field.required("code", text(), "stable error code"),
          Shape.Field.required(
              "category", text(), "which side must act: CALLER, RESOURCE, PROVIDER or BUG"),
          Shape.Field.required("remedy", text(), "what to do next"),
          Shape.Field.required("requestId", text(), "id of the request in the server log"),
          Shape.Field.optional("sandbox", text(), "id of the affected sandbox"),
          Shape.Field.optional("context", new Shape.MapOf(text()), "further details for programs"));

  private OpenApi() {}

  private static Shape text() {
    return new Shape.Text(65_536, "");
  }

  public static Map<String, Object> describe(List<Route> routes, String version) {
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
    document.put(
        "info",
        Map.of("title", "Isola", "version", version, "description", "One API for any sandbox."));
    document.put("paths", paths);
    document.put(
        "components",
        Map.of(
            "schemas",
            Map.of("Problem", PROBLEM.schema()),
            "securitySchemes",
            Map.of("key", Map.of("type", "http", "scheme", "bearer"))));
    return document;
  }

  private static Map<String, Object> operation(Route route) {
    Map<String, Object> operation = new LinkedHashMap<>();
    operation.put("operationId", route.name());
    operation.put("summary", route.summary());
    route
        .scope()
        .ifPresent(
            scope -> {
              operation.put("security", List.of(Map.of("key", List.of())));
              operation.put("x-scope", scope.word());
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
                  Map.of("application/json", Map.of("schema", shape.schema()))));
      case Route.Body.Stream(String mediaType) ->
          operation.put(
              "requestBody", Map.of("required", true, "content", Map.of(mediaType, Map.of())));
    }
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("description", route.answers().summary());
    if (!route.answers().mediaType().isEmpty()) {
      answer.put(
          "content",
          Map.of(
              route.answers().mediaType(),
              route
                  .answers()
                  .shape()
                  .<Map<String, Object>>map(shape -> Map.of("schema", shape.schema()))
                  .orElse(Map.of())));
    }
    Map<String, Object> answers = new LinkedHashMap<>();
    answers.put(Integer.toString(route.answers().status()), answer);
    answers.put(
        "default",
        Map.of(
            "description",
            "an error as a problem document (RFC 9457)",
            "content",
            Map.of(
                "application/problem+json",
                Map.of("schema", Map.of("$ref", "#/components/schemas/Problem")))));
    operation.put("responses", answers);
    return operation;
  }

  private static Map<String, Object> parameter(Parameter parameter) {
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
