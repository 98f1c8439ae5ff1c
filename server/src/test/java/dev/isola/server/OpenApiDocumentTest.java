package dev.isola.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

/**
 * The OpenAPI document is good enough to generate clients from, and the server does what it says:
 * nulls, methods and responses are as declared.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OpenApiDocumentTest {
  private static final JsonMapper JSON = new JsonMapper();
  private static final String SCHEMAS = "#/components/schemas/";

  /** An operation of the document. */
  private record Operation(String method, String path, Map<?, ?> description) {
    String id() {
      return String.valueOf(description.get("operationId"));
    }

    Optional<Map<?, ?>> jsonBody() {
      return Optional.ofNullable(
          (Map<?, ?>)
              map(map(description.get("requestBody")).get("content")).get("application/json"));
    }
  }

  @TempDir static Path folder;
  private TestServer testServer;
  private TestClient client;
  private Map<String, Object> document = Map.of();
  private JsonSchema schema = new JsonSchema(Map.of());
  private final List<Operation> operations = new ArrayList<>();

  @BeforeAll
  void open() throws IOException {
    testServer = new TestServer(folder);
    client = testServer.client();
    document = testServer.client("").get("/api/v1/openapi.json").json();
    schema = new JsonSchema(document);
    map(document.get("paths"))
        .forEach(
            (path, methods) ->
                map(methods)
                    .forEach(
                        (method, description) ->
                            operations.add(
                                new Operation(
                                    String.valueOf(method).toUpperCase(Locale.ROOT),
                                    String.valueOf(path),
                                    map(description)))));
  }

  @AfterAll
  void close() {
    testServer.close();
  }

  private static Map<?, ?> map(@Nullable Object value) {
    return RequestFuzzer.map(value);
  }

  private Map<?, ?> schemas() {
    return map(map(document.get("components")).get("schemas"));
  }

  private static String path(String template) {
    return template
        .replace("{port}", "8000")
        .replace("{rest}", "x")
        .replace("{digest}", "0".repeat(64))
        .replaceAll("\\{[a-z]+}", "missing");
  }

  @Test
  void everyObjectIsANamedSchema() {
    List<String> inline = new ArrayList<>();
    for (Operation operation : operations) {
      findInlineObjects(operation.id(), operation.description(), inline);
    }
    schemas()
        .forEach(
            (name, definition) ->
                map(map(definition).get("properties"))
                    .forEach((field, each) -> findInlineObjects(name + "." + field, each, inline)));
    assertThat(inline).isEmpty();
    assertThat(schemas().keySet().stream().map(String::valueOf))
        .allMatch(name -> name.matches("[A-Z][A-Za-z0-9]+"))
        .contains(
            "Sandbox",
            "CreateSandboxRequest",
            "SandboxList",
            "ExecRequest",
            "ExecResult",
            "Execution",
            "FileInfo",
            "FileList",
            "Snapshot",
            "Problem");
  }

  @Test
  void inlineObjectIsDetected() {
    List<String> found = new ArrayList<>();
    findInlineObjects("planted", Map.of("items", Map.of("properties", Map.of())), found);
    assertThat(found).containsExactly("planted");
  }

  /** Finds schemas with fields that are not references. Examples are not schemas. */
  private static void findInlineObjects(Object at, @Nullable Object value, List<String> found) {
    switch (value) {
      case Map<?, ?> map -> {
        if (map.containsKey("properties")) {
          found.add(String.valueOf(at));
        }
        map.forEach(
            (name, each) -> {
              if (!"example".equals(name)) {
                findInlineObjects(at, each, found);
              }
            });
      }
      case List<?> list -> list.forEach(each -> findInlineObjects(at, each, found));
      case null, default -> {}
    }
  }

  @Test
  void everyReferenceResolves() {
    Set<String> references = new TreeSet<>();
    collectReferences(document, references);
    assertThat(references).hasSizeGreaterThan(50);
    references.forEach(one -> assertThat(schema.resolve(Map.of("$ref", one))).as(one).isNotEmpty());
    assertThat(schemas().keySet().stream().map(name -> SCHEMAS + name).toList())
        .as("every schema is used")
        .allMatch(references::contains);
  }

  private static void collectReferences(@Nullable Object value, Set<String> found) {
    switch (value) {
      case Map<?, ?> map ->
          map.forEach(
              (name, each) -> {
                if ("$ref".equals(name)) {
                  found.add(String.valueOf(each));
                }
                collectReferences(each, found);
              });
      case List<?> list -> list.forEach(each -> collectReferences(each, found));
      case null, default -> {}
    }
  }

  @Test
  void everyOperationHasWhatGeneratorsNeed() {
    List<String> tags = new ArrayList<>();
    for (Object tag : RequestFuzzer.list(document.get("tags"))) {
      tags.add(String.valueOf(map(tag).get("name")));
    }
    for (Operation operation : operations) {
      assertThat(operation.id()).matches("[a-z][A-Za-z0-9]+");
      assertThat(RequestFuzzer.list(operation.description().get("tags")))
          .as(operation.id())
          .hasSize(1)
          .allMatch(tags::contains);
      Map<?, ?> responses = map(operation.description().get("responses"));
      assertThat(map(responses.get("default")).get("$ref"))
          .as(operation.id())
          .isEqualTo("#/components/responses/Problem");
      assertThat(responses.containsKey("401"))
          .as(operation.id())
          .isEqualTo(operation.description().get("security") != null);
      responses.forEach(
          (status, response) ->
              map(map(response).get("content"))
                  .forEach(
                      (type, content) ->
                          assertThat(map(content).get("schema"))
                              .as(operation.id() + " " + status + " " + type)
                              .isNotNull()));
    }
    Map<?, ?> scheme =
        map(map(map(document.get("components")).get("securitySchemes")).get("bearer"));
    assertThat(scheme.get("scheme")).isEqualTo("bearer");
  }

  @Test
  void everyExampleIsValid() {
    int examples = 0;
    for (Operation operation : operations) {
      List<Map<?, ?>> contents = new ArrayList<>();
      operation.jsonBody().ifPresent(contents::add);
      Map<?, ?> responses = map(operation.description().get("responses"));
      // The other status of an operation has the same content as the first.
      String status = responses.containsKey("201") ? "201" : "200";
      if (map(map(responses.get(status)).get("content")).get("application/json")
          instanceof Map<?, ?> json) {
        contents.add(json);
      }
      for (Map<?, ?> content : contents) {
        assertThat(content.containsKey("example")).as(operation.id()).isTrue();
        assertThat(schema.defects(map(content.get("schema")), content.get("example")))
            .as(operation.id() + " " + content.get("example"))
            .isEmpty();
        examples++;
      }
    }
    assertThat(examples).isGreaterThan(60);
    Map<?, ?> problem = map(map(map(document.get("components")).get("responses")).get("Problem"));
    Map<?, ?> content = map(map(problem.get("content")).get("application/problem+json"));
    assertThat(schema.defects(map(content.get("schema")), content.get("example"))).isEmpty();
  }

  @Test
  void invalidExampleIsDetected() {
    Map<?, ?> problem = Map.of("$ref", SCHEMAS + "Problem");
    assertThat(schema.defects(problem, Map.of("status", "404")))
        .anyMatch(one -> one.contains("code is missing"))
        .anyMatch(one -> one.contains("404 is not of type"));
  }

  /** Fields of a schema at any depth, as paths, with a body that contains only this field. */
  private Map<String, Map<String, Object>> nullBodies(Map<?, ?> named) {
    Map<String, Map<String, Object>> bodies = new LinkedHashMap<>();
    Map<?, ?> object = schema.resolve(named);
    map(object.get("properties"))
        .forEach(
            (name, field) -> {
              Map<?, ?> real = schema.resolve(map(field));
              boolean nullable = String.valueOf(real.get("type")).contains("null");
              if (!nullable) {
                Map<String, Object> body = new LinkedHashMap<>();
                body.put(String.valueOf(name), null);
                bodies.put(String.valueOf(name), body);
              }
              nullBodies(map(field))
                  .forEach(
                      (inner, nested) ->
                          bodies.put(name + "." + inner, Map.of(String.valueOf(name), nested)));
            });
    return bodies;
  }

  @Test
  void nullIsRejectedWhereTheSchemaDoesNotAllowIt() throws IOException {
    String id = client.post("/api/v1/sandboxes", "{}").field("id");
    int sent = 0;
    for (Operation operation : operations) {
      if (operation.jsonBody().isEmpty()) {
        continue;
      }
      String path = path(operation.path().replace("{id}", id));
      for (Map.Entry<String, Map<String, Object>> each :
          nullBodies(map(operation.jsonBody().get().get("schema"))).entrySet()) {
        TestClient.Response answer =
            client.send(
                operation.method(),
                path,
                Map.of("Content-Type", "application/json"),
                JSON.writeValueAsBytes(each.getValue()));
        String what = operation.id() + " " + each.getKey() + ": " + answer.text();
        assertThat(answer.status()).as(what).isEqualTo(400);
        assertThat(answer.field("detail"))
            .as(what)
            .contains(each.getKey() + " must not be null; leave the field out");
        sent++;
      }
    }
    assertThat(sent).isGreaterThan(80);
    assertThat(client.get("/api/v1/sandboxes").list("sandboxes"))
        .as("no request had an effect")
        .hasSize(1);
    assertThat(testServer.warnings).isEmpty();
  }

  @Test
  void undeclaredMethodGets405WithTheDeclaredOnes() throws IOException {
    List<String> methods =
        List.of("GET", "PUT", "POST", "DELETE", "PATCH", "TRACE", "FOO", "PROPFIND");
    for (String path : operations.stream().map(Operation::path).distinct().toList()) {
      if (path.endsWith("/ports/{port}/link")) {
        continue; // with any other method, the request is forwarded to the port
      }
      Set<String> declared = new TreeSet<>();
      operations.stream()
          .filter(one -> one.path().equals(path))
          .forEach(one -> declared.add(one.method()));
      for (String method : methods) {
        if (declared.contains(method)) {
          continue;
        }
        TestClient.Response answer = client.send(method, path(path), Map.of(), new byte[0]);
        String what = method + " " + path + ": " + answer.text();
        assertThat(answer.status()).as(what).isEqualTo(405);
        assertThat(answer.type()).isEqualTo("application/problem+json");
        assertThat(answer.field("code")).isEqualTo("METHOD_NOT_ALLOWED");
        List<String> allowed = List.of(answer.headers().getOrDefault("allow", "").split(", "));
        assertThat(allowed).as(what).containsAll(declared).contains("OPTIONS");
        assertThat(allowed).as(what).isSubsetOf(union(declared, "OPTIONS", "HEAD"));
        assertThat(answer.field("remedy")).contains(String.join(", ", allowed));
      }
    }
    assertThat(client.send("PATCH", "/api/v1/nowhere", Map.of(), new byte[0]).status())
        .isEqualTo(404);
  }

  private static Set<String> union(Set<String> some, String... more) {
    Set<String> all = new TreeSet<>(some);
    all.addAll(List.of(more));
    return all;
  }

  @Test
  void optionsAndHeadAreAnswered() throws IOException {
    TestClient anonymous = testServer.client("");
    TestClient.Response options =
        anonymous.send("OPTIONS", "/api/v1/sandboxes", Map.of(), new byte[0]);
    assertThat(options.status()).isEqualTo(204);
    assertThat(options.headers())
        .containsEntry("allow", "GET, HEAD, OPTIONS, POST")
        .doesNotContainKey("access-control-allow-origin");
    assertThat(anonymous.send("OPTIONS", "/nowhere", Map.of(), new byte[0]).status())
        .isEqualTo(404);
    try (TestClient.OpenResponse open =
        anonymous.open("HEAD", "/api/v1/sandboxes", Map.of(), new byte[0])) {
      assertThat(open.status()).as("HEAD needs the same key as GET").isEqualTo(401);
    }
    assertThat(head("/api/v1/sandboxes")).startsWith("HTTP/1.1 200");
    assertThat(head("/healthz")).startsWith("HTTP/1.1 200");
    // A stream would not end.
    assertThat(head("/api/v1/events")).startsWith("HTTP/1.1 405");
  }

  /** Returns everything that the server sends until it closes the connection. */
  private String head(String path) throws IOException {
    String request =
        "HEAD "
            + path
            + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer "
            + testServer.read
            + "\r\n\r\n";
    try (java.net.Socket socket =
        new java.net.Socket(java.net.InetAddress.getLoopbackAddress(), client.port())) {
      socket.setSoTimeout(30_000);
      socket.getOutputStream().write(request.getBytes(UTF_8));
      String all = new String(socket.getInputStream().readAllBytes(), UTF_8);
      assertThat(all).as("no body").endsWith("\r\n\r\n");
      return all;
    }
  }

  @Test
  void responsesMatchTheirSchemas() throws IOException {
    String id =
        matching(
                "createSandbox",
                client.post(
                    "/api/v1/sandboxes",
                    """
                    {"env": {"A": "b"}, "secretEnv": {"C": "d"}, "tags": {"team": "red"},
                     "resources": {"memory": 64}, "init": {"command": "true", "timeoutSeconds": 5},
                     "seedFiles": {"a.bin": {"base64": "/w=="}}, "whenIdle": "stop",
                     "network": {"mode": "none", "exposePorts": [8000]},
                     "require": {"isolation": "process"}, "ttlSeconds": 600.5}\
                    """))
            .field("id");
    String sandbox = "/api/v1/sandboxes/" + id;
    matching("listSandboxes", client.get("/api/v1/sandboxes"));
    matching("getSandbox", client.get(sandbox));
    matching("renewSandbox", client.post(sandbox + "/renew", "{\"ttlSeconds\":60}"));
    matching("getUsage", client.get(sandbox + "/usage"));
    matching("getStatus", client.get(sandbox + "/status"));
    matching("waitForState", client.get(sandbox + "/wait?state=running"));
    matching("exec", client.post(sandbox + "/exec", "{\"command\":\"echo hello; exit 3\"}"));
    matching(
        "exec",
        client.post(sandbox + "/exec", "{\"command\":\"kill -9 $$\",\"encoding\":\"base64\"}"));
    matching("exec", client.post(sandbox + "/exec", "{\"command\":\"sleep 9\",\"timeoutMs\":50}"));
    String execution =
        matching(
                "startExecution",
                client.post(sandbox + "/executions", "{\"argv\":[\"cat\"],\"stdin\":true}"))
            .field("id");
    matching("getExecution", client.get(sandbox + "/executions/" + execution));
    matching("listExecutions", client.get(sandbox + "/executions"));
    matching("writeFile", client.put(sandbox + "/files/content?path=f", "hello".getBytes(UTF_8)));
    matching("statFile", client.get(sandbox + "/files/stat?path=f"));
    matching("listFiles", client.get(sandbox + "/files?path=."));
    matching("globFiles", client.get(sandbox + "/files/glob?path=.&pattern=*"));
    matching(
        "batchFiles",
        client.post(
            sandbox + "/files/batch",
            """
            {"operations": [{"op": "write", "path": "b", "content": {"base64": "/w=="}},
             {"op": "read", "path": "b"}, {"op": "stat", "path": "f"}, {"op": "read", "path": "x"}],
             "keepGoing": true}\
            """));
    matching("listPorts", client.get(sandbox + "/ports"));
    matching(
        "setPort",
        client.send("PUT", sandbox + "/ports/8000", Map.of(), "{\"public\":true}".getBytes(UTF_8)));
    matching("makeLink", client.post(sandbox + "/ports/8000/link", "{\"ttlSeconds\":60}"));
    matching(
        "makeToken", client.post(sandbox + "/tokens", "{\"scope\":\"use\",\"ttlSeconds\":60}"));
    matching("listProviders", client.get("/api/v1/providers"));
    matching("listWorkspaceProviders", client.get("/api/v1/agent/workspaces/providers"));
    matching("getPool", client.get("/api/v1/pool"));
    matching("getSetup", client.get("/api/sandbox/setup"));
    matching("listKeys", client.get("/api/v1/keys"));
    matching(
        "createSession", client.post("/api/v1/session", "{\"key\":\"" + testServer.read + "\"}"));
    matching("getSession", client.get("/api/v1/session"));
    matching("makeKey", client.post("/api/v1/keys", "{\"name\":\"shape\",\"scope\":\"read\"}"));
    matching(
        "updateKey",
        client.send(
            "PATCH",
            "/api/v1/keys/shape",
            Map.of("Content-Type", "application/json"),
            "{\"strictNoFallback\":true}".getBytes(UTF_8)));
    matching("checkProviders", client.post("/api/v1/providers/check", ""));
    matching("listImages", client.get("/api/v1/images"));
    matching("listSnapshots", client.get("/api/v1/snapshots"));
    matching("listVolumes", client.get("/api/v1/volumes"));
    matching("listTemplates", client.get("/api/v1/templates"));
    matching("health", client.get("/healthz"));
    matching("getServerInfo", client.get("/"));
    matching("getSandbox", client.get("/api/v1/sandboxes/missing"));
    client.delete(sandbox + "?force=true");
  }

  private TestClient.Response matching(String operationId, TestClient.Response response) {
    Operation operation =
        operations.stream().filter(one -> one.id().equals(operationId)).findFirst().orElseThrow();
    Map<?, ?> responses = map(operation.description().get("responses"));
    Object declared =
        Optional.<Object>ofNullable(responses.get(Integer.toString(response.status())))
            .orElse(responses.get("default"));
    Map<?, ?> content = map(schema.resolve(map(declared)).get("content"));
    String what = operationId + " " + response.status() + " " + response.text();
    assertThat(content.containsKey(response.type())).as(what).isTrue();
    assertThat(response.status() < 300 || response.status() == 404).as(what).isTrue();
    assertThat(
            schema.defects(map(map(content.get(response.type())).get("schema")), response.json()))
        .as(what)
        .isEmpty();
    return response;
  }

  @Test
  void rootAnswersBrowsersWithAPageAndProgramsWithPointers() throws IOException {
    TestClient anonymous = testServer.client("");
    String browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    TestClient.Response page = anonymous.send("GET", "/", Map.of("Accept", browser), new byte[0]);
    assertThat(page.status()).isEqualTo(200);
    assertThat(page.type()).isEqualTo("text/html; charset=utf-8");
    assertThat(page.headers()).containsEntry("vary", "Accept");
    assertThat(page.headers().get("content-security-policy"))
        .startsWith("default-src 'none'")
        .contains("frame-ancestors 'none'", "style-src 'sha256-")
        .doesNotContain("unsafe", "http", "*");
    assertThat(page.text())
        .contains("<h1>Isola <small>test</small></h1>", "/api/v1/docs", "/api/v1/openapi.json")
        .doesNotContain("http://", "https://", "<script", "{version}");
    for (String accept : List.of("*/*", "application/json", "application/json, text/html")) {
      TestClient.Response json = anonymous.send("GET", "/", Map.of("Accept", accept), new byte[0]);
      assertThat(json.json())
          .as(accept)
          .containsExactly(
              Map.entry("name", "Isola"),
              Map.entry("version", "test"),
              Map.entry("openapi", "/api/v1/openapi.json"),
              Map.entry("docs", "/api/v1/docs"));
    }
    Stream.of("openapi", "docs")
        .forEach(
            pointer -> {
              try {
                assertThat(anonymous.get(anonymous.get("/").field(pointer)).status())
                    .isEqualTo(200);
              } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
              }
            });
  }
}
