package dev.isola.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.server.auth.Scope;
import dev.isola.server.route.ContentShape;
import dev.isola.server.route.MatchingText;
import dev.isola.server.route.OpenApi;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Route;
import dev.isola.server.route.Shape;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.json.JsonMapper;

/**
 * E2: properties of every route: unauthorized requests are rejected, and invalid input causes a
 * client error and never an internal error.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RouteTableTest {
  private static final JsonMapper JSON = new JsonMapper();

  @TempDir static Path folder;
  private TestServer testServer;

  @BeforeAll
  void open() {
    testServer = new TestServer(folder);
    await().until(() -> testServer.client("").get("/readyz").status() == 200);
  }

  @AfterAll
  void close() {
    testServer.close();
  }

  List<Route> routes() {
    return testServer.routes.nativeRoutes();
  }

  private String sandbox() throws IOException {
    return testServer.client().post("/api/v1/sandboxes", "{}").field("id");
  }

  private boolean isRunning(String id) throws IOException {
    TestClient.Response answer = testServer.client().get("/api/v1/sandboxes/" + id);
    return answer.status() == 200 && answer.field("state").equals("running");
  }

  /** Returns the path with its parameters filled in. */
  private static String path(Route route, String id) {
    return route
        .template()
        .replace("{id}", id)
        .replace("{execution}", "none")
        .replace("{port}", "8000")
        .replace("{rest}", "")
        .replace("{snapshot}", "nothere")
        .replace("{volume}", "nothere")
        .replace("{build}", "nothere")
        .replace("{digest}", "nothere")
        .replace("{name}", "missing");
  }

  private static TestClient.Response send(
      TestClient client, Route route, String path, Map<String, String> headers, byte[] body)
      throws IOException {
    return client.send(route.method(), path, headers, body);
  }

  private void assertProblem(TestClient.Response answer, String what) {
    assertThat(answer.type()).as(what + ": " + answer.text()).isEqualTo("application/problem+json");
    assertThat(answer.json())
        .as(what)
        .containsKeys(
            "type", "title", "status", "detail", "code", "category", "remedy", "requestId")
        .containsEntry("status", answer.status())
        .containsEntry("requestId", answer.headers().get("x-request-id"));
    assertThat(answer.field("remedy")).as(what).isNotBlank();
  }

  private static Map<?, ?> map(@Nullable Object value) {
    return value instanceof Map<?, ?> map ? map : Map.of();
  }

  @Test
  void everyRouteIsInTheOpenApiDocument() throws IOException {
    Map<String, Object> document = testServer.client("").get("/api/v1/openapi.json").json();
    assertThat(document).containsEntry("openapi", "3.1.0");
    Map<?, ?> paths = map(document.get("paths"));
    int described = 0;
    for (Object path : paths.values()) {
      described += map(path).size();
    }
    assertThat(described).isEqualTo(routes().size());
    List<Object> names = new ArrayList<>();
    for (Route route : routes()) {
      Map<?, ?> path = map(paths.get(route.template()));
      Map<?, ?> operation = map(path.get(route.method().toLowerCase(Locale.ROOT)));
      assertThat(operation.size()).as(route.template()).isPositive();
      assertThat(operation.get("summary")).isEqualTo(route.summary());
      assertThat(operation.get("security") != null).isEqualTo(route.scope().isPresent());
      names.add(operation.get("operationId"));
      // Path parameters and template placeholders correspond.
      List<String> templated =
          java.util.regex.Pattern.compile("\\{([a-z]+)}")
              .matcher(route.template())
              .results()
              .map(found -> found.group(1))
              .toList();
      assertThat(
              route.parameters().stream()
                  .filter(one -> one.where() == Parameter.Where.PATH)
                  .map(Parameter::name)
                  .toList())
          .as(route.template())
          .containsExactlyInAnyOrderElementsOf(templated);
    }
    assertThat(names).doesNotHaveDuplicates();
  }

  @Test
  void missingRouteInTheDocumentIsDetected() {
    List<Route> fewer = routes().subList(1, routes().size());
    Map<?, ?> paths = map(OpenApi.describe(fewer, "test").get("paths"));
    assertThat(paths.containsKey(routes().getFirst().template())).isFalse();
  }

  @ParameterizedTest
  @MethodSource("routes")
  void foreignHostOrOriginIsRejected(Route route) throws IOException {
    TestClient client = testServer.client();
    String path = path(route, "box1");
    for (String host :
        List.of(
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "evil.example:" + client.port(),
            "127.0.0.2",
            "isola.example.evil")) {
      TestClient.Response answer = send(client, route, path, Map.of("Host", host), new byte[0]);
      assertThat(answer.status()).as(host).isEqualTo(403);
      assertProblem(answer, host);
    }
    for (String origin :
        List.of("http://evil.example", "null", "file://", "http://localhost.evil.example", "")) {
      TestClient.Response answer = send(client, route, path, Map.of("Origin", origin), new byte[0]);
      assertThat(answer.status()).as(origin).isEqualTo(403);
      assertProblem(answer, origin);
    }
  }

  @ParameterizedTest
  @MethodSource("routes")
  void missingOrInsufficientKeyIsRejected(Route route) throws IOException {
    if (route.scope().isEmpty()) {
      TestClient.Response answer =
          send(testServer.client(""), route, route.template(), Map.of(), new byte[0]);
      assertThat(answer.status())
          .as(answer.text())
          .isEqualTo(
              switch (route.name()) {
                case "createSession" -> 400;
                case "beginOidcSignIn" -> 501; // not configured
                default -> 200;
              });
      return;
    }
    String path = path(route, "box1");
    Map<String, String> bad = new LinkedHashMap<>();
    bad.put("no key", "");
    bad.put("another key", "Bearer isk_" + "0".repeat(64));
    bad.put("an empty key", "Bearer ");
    bad.put("another scheme", "Basic " + testServer.admin);
    bad.put(
        "a key cut off", "Bearer " + testServer.admin.substring(0, testServer.admin.length() - 1));
    bad.put("a hash", "Bearer " + testServer.keys.all().getFirst().hash());
    for (Map.Entry<String, String> each : bad.entrySet()) {
      Map<String, String> headers =
          each.getValue().isEmpty() ? Map.of() : Map.of("Authorization", each.getValue());
      TestClient.Response answer = send(testServer.client(""), route, path, headers, new byte[0]);
      assertThat(answer.status()).as(each.getKey()).isEqualTo(401);
      assertThat(answer.headers()).containsEntry("www-authenticate", "Bearer");
      assertProblem(answer, each.getKey());
    }
    Scope needed = route.scope().get();
    for (Map.Entry<Scope, String> each :
        Map.of(Scope.READ, testServer.read, Scope.USE, testServer.use).entrySet()) {
      if (!each.getKey().allows(needed)) {
        TestClient.Response answer =
            send(testServer.client(each.getValue()), route, path, Map.of(), new byte[0]);
        assertThat(answer.status()).as(each.getKey().word()).isEqualTo(403);
        assertProblem(answer, each.getKey().word());
      }
    }
  }

  @Test
  void validHostAndOriginAreAccepted() throws IOException {
    TestClient client = testServer.client(testServer.read);
    for (String host :
        List.of("localhost", "LOCALHOST:1", "127.0.0.1", "[::1]:80", "isola.example:443")) {
      assertThat(
              client.send("GET", "/api/v1/sandboxes", Map.of("Host", host), new byte[0]).status())
          .as(host)
          .isEqualTo(200);
    }
    for (String origin : List.of("http://localhost:3000", "https://isola.example")) {
      assertThat(
              client
                  .send("GET", "/api/v1/sandboxes", Map.of("Origin", origin), new byte[0])
                  .status())
          .as(origin)
          .isEqualTo(200);
    }
  }

  @ParameterizedTest
  @MethodSource("routes")
  void invalidParametersAreRejected(Route route) throws IOException {
    if (route.body() instanceof Route.Body.Forwarded) {
      return; // forwarded requests are not validated
    }
    String id = sandbox();
    TestClient client = testServer.client();
    List<String> paths = new ArrayList<>();
    String good = path(route, id);
    paths.add(good + "?nosuch=1");
    paths.add(good + "?path=%ff");
    paths.add(good + "?path=%zz");
    paths.add(good + "?%00=1");
    if (route.template().contains("{id}")) {
      for (String bad : List.of("BOX", "a-b", "x".repeat(33), "%ff", "%00", "%2e%2e", "a%2fb")) {
        paths.add(path(route, bad) + required(route));
      }
    }
    for (Parameter parameter : route.parameters()) {
      if (parameter.where() == Parameter.Where.QUERY) {
        List<String> values = new ArrayList<>(List.of("", "%00", "x".repeat(5000), "%ed%a0%80"));
        if (!(parameter.shape() instanceof Shape.NonEmptyText)
            && !(parameter.shape() instanceof MatchingText)) {
          values.addAll(List.of("-1", "1e9", "999999999999999999999", "yes", "null"));
        }
        if (!parameter.repeatable()) {
          paths.add(good + "?" + parameter.name() + "=1&" + parameter.name() + "=1");
        }
        values.forEach(value -> paths.add(good + "?" + parameter.name() + "=" + value));
      }
    }
    for (String path : paths) {
      TestClient.Response answer = send(client, route, path, Map.of(), new byte[0]);
      assertThat(answer.status()).as(path).isBetween(400, 404);
      assertProblem(answer, path);
    }
    for (Parameter parameter : route.parameters()) {
      if (parameter.where() == Parameter.Where.HEADER
          && !(parameter.shape() instanceof Shape.NonEmptyText)) {
        for (String value : List.of("x", "-1", "99999999999999999999")) {
          TestClient.Response answer =
              send(client, route, good, Map.of(parameter.name(), value), new byte[0]);
          assertThat(answer.status()).as(value).isEqualTo(400);
          assertProblem(answer, value);
        }
      }
    }
    assertNoInternalError();
  }

  private static String required(Route route) {
    List<String> needed =
        route.parameters().stream()
            .filter(one -> one.where() == Parameter.Where.QUERY && one.required())
            .map(one -> one.name() + "=x")
            .toList();
    return needed.isEmpty() ? "" : "?" + String.join("&", needed);
  }

  @ParameterizedTest
  @MethodSource("routes")
  void invalidBodiesAreRejected(Route route) throws IOException {
    if (!(route.body() instanceof Route.Body.Json json)) {
      return;
    }
    String path = path(route, sandbox());
    Map<String, byte[]> bad = new LinkedHashMap<>();
    bad.put("not JSON", "{".getBytes(UTF_8));
    bad.put("a list", "[]".getBytes(UTF_8));
    bad.put("a text", "\"x\"".getBytes(UTF_8));
    bad.put("null", "null".getBytes(UTF_8));
    bad.put("two documents", "{}{}".getBytes(UTF_8));
    bad.put("a name twice", "{\"a\":1,\"a\":2}".getBytes(UTF_8));
    bad.put("an unknown field", "{\"nosuchfield\":1}".getBytes(UTF_8));
    bad.put("invalid UTF-8", new byte[] {'{', '"', (byte) 0xff, '"', ':', '1', '}'});
    bad.put("UTF-16", "{}".getBytes(java.nio.charset.StandardCharsets.UTF_16));
    bad.put("deep", ("{\"a\":" + "[".repeat(100_000)).getBytes(UTF_8));
    bad.put("long number", ("{\"a\":" + "9".repeat(100_000) + "}").getBytes(UTF_8));
    bad.put("huge", ("{\"a\":\"" + "x".repeat(2 << 20) + "\"}").getBytes(UTF_8));
    bad.put("half a character", "{\"nosuch\\ud800\":\"\\ud800\"}".getBytes(UTF_8));
    if (json.shape() instanceof Shape.Obj shape) {
      for (Shape.Field field : shape.fields()) {
        for (String value : List.of("[[1]]", "{\"q\":{}}", "1.5", "-1", "\"\\u0000\"", "1e400")) {
          // Content may contain NUL bytes.
          if (!(field.shape() instanceof ContentShape) || !value.contains("u0000")) {
            bad.put(field.name() + " " + value, mutated(shape, field, value));
          }
        }
      }
    } else {
      for (String field :
          List.of(
              "id",
              "image",
              "env",
              "resources",
              "network",
              "volumes",
              "ttlSeconds",
              "tags",
              "provider",
              "template",
              "strictNoFallback",
              "idleTimeoutSeconds",
              "require",
              "init",
              "gpus")) {
        for (String value : List.of("[[1]]", "-1.5", "\"\\u0000\"", "{\"q\":{}}")) {
          bad.put(field + " " + value, ("{\"" + field + "\":" + value + "}").getBytes(UTF_8));
        }
      }
    }
    for (Map.Entry<String, byte[]> each : bad.entrySet()) {
      TestClient.Response answer =
          send(testServer.client(), route, path, Map.of(), each.getValue());
      assertThat(answer.status()).as(each.getKey() + ": " + answer.text()).isEqualTo(400);
      assertProblem(answer, each.getKey());
    }
    TestClient.Response other =
        send(
            testServer.client(),
            route,
            path,
            Map.of("Content-Type", "text/plain"),
            new byte[] {'{'});
    assertThat(other.status()).isEqualTo(400);
    assertNoInternalError();
  }

  @Test
  void malformedJsonIsRejectedWithAReason() throws IOException {
    Map<String, String> bodies = new LinkedHashMap<>();
    bodies.put("{\"tags\":", "syntax error at line 1, column 9");
    bodies.put(
        "{\"tags\":" + "[".repeat(500_000), "nested deeper than 32 levels at line 1, column");
    bodies.put(
        "{\"tags\":{\"a\":\"1\",\"a\":\"2\"}}", "a name occurs twice in an object at line 1");
    bodies.put("{\"ttlSeconds\":" + "9".repeat(900_000) + "}", "a number or name is too long");
    bodies.put("{\"ttlSeconds\":1e400}", "a number is out of range at line 1, column 15");
    bodies.put("{\"tags\":{\"a\":\"\\ud800\"}}", "a string has an unpaired surrogate at line 1");
    bodies.put("{} {}", "text after the end of the value at line 1, column 4");
    for (Map.Entry<String, String> each : bodies.entrySet()) {
      TestClient.Response answer = testServer.client().post("/api/v1/sandboxes", each.getKey());
      assertThat(answer.status()).as(each.getValue()).isEqualTo(400);
      assertThat(answer.field("detail")).startsWith("the body is not JSON: " + each.getValue());
      assertProblem(answer, each.getValue());
    }
    byte[] latin1 = "{\"tags\":{\"a\":\"é\"}}".getBytes(ISO_8859_1);
    TestClient.Response encoded =
        testServer.client().send("POST", "/api/v1/sandboxes", Map.of(), latin1);
    assertThat(encoded.field("detail")).isEqualTo("the body is not JSON: not UTF-8");
    TestClient.Response huge =
        testServer.client().post("/api/v1/sandboxes", "\"" + "x".repeat(4 << 20) + "\"");
    assertThat(huge.field("detail")).isEqualTo("the body is larger than 1048576 bytes");
    assertNoInternalError();
  }

  @ParameterizedTest
  @MethodSource("routes")
  void unusualBodiesCauseNoInternalError(Route route) throws IOException {
    if (!(route.body() instanceof Route.Body.Json json)
        || !(json.shape() instanceof Shape.Obj shape)) {
      return;
    }
    String id = sandbox();
    for (Shape.Field field : shape.fields()) {
      for (String value :
          List.of(
              "\"\"",
              "\"/\"",
              "\"..\"",
              "\"\\u00e9\\u2028\"",
              "\"" + "x".repeat(4000) + "\"",
              "0",
              "1",
              "9223372036854775807",
              "true",
              "[]",
              "[\"\"]",
              "{}",
              "{\"\":\"\"}",
              "{\"a=b\":\"\"}",
              "{\"base64\":\"!\"}")) {
        if (!isRunning(id)) {
          id = sandbox();
        }
        String path = path(route, id);
        TestClient.Response answer =
            send(testServer.client(), route, path, Map.of(), mutated(shape, field, value));
        assertThat(answer.status())
            .as(field.name() + " " + value + answer.text())
            .isNotEqualTo(500);
        if (answer.status() >= 400) {
          assertProblem(answer, field.name() + " " + value);
        }
      }
    }
    assertNoInternalError();
  }

  private static byte[] mutated(Shape.Obj shape, Shape.Field odd, String value) {
    Map<String, String> fields = new LinkedHashMap<>();
    for (Shape.Field field : shape.fields()) {
      sample(field).ifPresent(text -> fields.put(field.name(), text));
    }
    if (odd.name().equals("argv")) {
      fields.remove("command");
    }
    fields.put(odd.name(), value);
    List<String> parts = new ArrayList<>();
    fields.forEach((name, text) -> parts.add(JSON.writeValueAsString(name) + ":" + text));
    return ("{" + String.join(",", parts) + "}").getBytes(UTF_8);
  }

  /** Returns a valid value for a required field. */
  private static Optional<String> sample(Shape.Field field) {
    if (field.name().equals("command")) {
      return Optional.of("\"true\"");
    }
    if (!field.required()) {
      return Optional.empty();
    }
    return Optional.of(JSON.writeValueAsString(field.shape().example()));
  }

  @Test
  void errorListsAllViolations() throws IOException {
    TestClient.Response answer =
        testServer
            .client()
            .post(
                "/api/v1/sandboxes/box1/exec?x=1", "{\"comand\":\"ls\",\"cwd\":7,\"timeoutMs\":0}");
    assertThat(answer.field("detail"))
        .contains("x is unknown", "comand is unknown", "command", "cwd must be a string")
        .contains("timeoutMs must be from 1");
  }

  @Test
  void unknownPathsAreAProblem() throws IOException {
    for (String path : List.of("/api", "/api/v1/sandboxes/", "/api/v2/sandboxes", "//", "/x")) {
      TestClient.Response answer = testServer.client().get(path);
      assertThat(answer.status()).as(path).isIn(400, 404);
      assertProblem(answer, path);
    }
    TestClient.Response method =
        testServer.client().send("PATCH", "/api/v1/sandboxes", Map.of(), new byte[0]);
    assertThat(method.status()).isEqualTo(405);
    assertThat(method.json()).containsEntry("remedy", "use GET, HEAD, OPTIONS, POST");
  }

  @Test
  void malformedHttpIsRejected() throws IOException {
    for (String request :
        List.of(
            "nonsense\r\n\r\n",
            "GET / HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
            "GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "POST /api/v1/sandboxes HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
            "GET /api/v1/../../etc HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "GET /" + "x".repeat(20_000) + " HTTP/1.1\r\nHost: localhost\r\n\r\n")) {
      try (TestClient.OpenResponse open = testServer.client().raw(request.getBytes(UTF_8))) {
        assertThat(open.status()).as(request.substring(0, 10)).isBetween(400, 499);
      }
    }
  }

  @Test
  void accessLogContainsKeyAndRouteOnly() throws IOException {
    testServer.requests.clear();
    TestClient.Response exec =
        testServer
            .client()
            .post("/api/v1/sandboxes/box1/exec?secret=hunter2", "{\"command\":\"hunter3\"}");
    TestClient.Response unknown = testServer.client().get("/hunter4");
    AccessLog.Line line = logged(exec);
    logged(unknown);
    assertThat(line.route()).isEqualTo("/api/v1/sandboxes/{id}/exec");
    assertThat(line.status()).isEqualTo(400);
    assertThat(line.key()).isEqualTo("admin");
    assertThat(testServer.requests.toString())
        .doesNotContain("hunter")
        .doesNotContain(testServer.admin)
        .doesNotContain("box1");
  }

  /** Waits for the line of a response. Lines are written after the response is sent. */
  private AccessLog.Line logged(TestClient.Response response) {
    String id = response.headers().get("x-request-id");
    return await()
        .atMost(Duration.ofSeconds(10))
        .until(
            () ->
                testServer.requests.stream()
                    .filter(line -> line.requestId().equals(id))
                    .findFirst(),
            Optional::isPresent)
        .orElseThrow();
  }

  /** Internal errors are logged as warnings; there must be none. */
  private void assertNoInternalError() {
    assertThat(testServer.warnings).isEmpty();
  }
}
