package dev.isola.compat.e2b;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.compat.e2b.model.E2bCredentials;
import dev.isola.compat.e2b.model.E2bDialect;
import dev.isola.server.TestClient;
import dev.isola.server.TestServer;
import dev.isola.server.auth.SandboxToken;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Route;
import dev.isola.spi.SandboxId;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

/**
 * Sends a request with every kind of credential to every route. {@code credential-matrix.txt}
 * contains the expected result of each combination: 401, 403, or {@code in} for any other status; a
 * route that is missing there fails the test. Planted secrets must not appear in a response to a
 * credential that could not use them.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CredentialMatrixTest {
  private static final String ENV = "planted-env-6c1f";
  private static final String SECRET = "planted-secret-40f2";
  private static final String INIT = "planted-init-93ab";
  private static final String ARGUMENT = "planted-argument-27d0";

  /** The columns of the table, in order. */
  private static final List<String> COLUMNS =
      List.of("none", "read", "use", "admin", "token", "other", "preview", "expired", "envd");

  /** These credentials change nothing, so complete requests can be sent with them. */
  private static final List<String> UNPRIVILEGED =
      List.of("none", "read", "other", "preview", "expired");

  private Path folder;
  private TestServer testServer;
  private String initialized;
  private String sandbox;
  private String volume;
  private String execution;
  private final Map<String, String> credentials = new LinkedHashMap<>();
  private final Map<String, String> planted = new LinkedHashMap<>();

  @BeforeAll
  void open(@TempDir Path place) throws IOException {
    folder = place;
    testServer = E2bTestServer.open(folder);
    TestClient admin = testServer.client();
    TestClient.Response made =
        testServer
            .client("")
            .send(
                "POST",
                "/v2/sandboxes",
                Map.of("X-API-KEY", testServer.admin, "Content-Type", "application/json"),
                ("{\"templateID\":\"host\",\"envVars\":{\"PLANTED\":\""
                        + ENV
                        + "\"},\"network\":{\"allowPublicTraffic\":false}}")
                    .getBytes(UTF_8));
    assertThat(made.status()).as(made.text()).isEqualTo(201);
    sandbox = made.field("sandboxID");
    planted.put("env", ENV);
    planted.put("envd token", made.field("envdAccessToken"));
    planted.put("traffic token", made.field("trafficAccessToken"));
    TestClient.Response second =
        admin.post(
            "/api/v1/sandboxes",
            "{\"init\":{\"command\":\"true\",\"env\":{\"A\":\""
                + INIT
                + "\"}},\"env\":{\"B\":\""
                + ENV
                + "\"},\"secretEnv\":{\"C\":\""
                + SECRET
                + "\"}}");
    assertThat(second.status()).as(second.text()).isEqualTo(201);
    planted.put("init", INIT);
    planted.put("secretEnv", SECRET);
    String other = second.field("id");
    initialized = other;
    volume = testServer.plantVolume();
    planted.put(
        "volume token",
        testServer
            .client("")
            .send("GET", "/volumes/" + volume, Map.of("X-API-KEY", testServer.admin), new byte[0])
            .field("token"));
    execution =
        admin
            .post(
                "/api/v1/sandboxes/" + sandbox + "/executions",
                "{\"command\":\"echo out; : " + ARGUMENT + "\"}")
            .field("id");
    planted.put("argument of a command", ARGUMENT);
    planted.put("admin key", testServer.admin);
    planted.put("use key", testServer.use);
    credentials.put("none", "");
    credentials.put("read", testServer.read);
    credentials.put("use", testServer.use);
    credentials.put("admin", testServer.admin);
    credentials.put("token", token(SandboxToken.Kind.USE, sandbox, 600));
    credentials.put("other", token(SandboxToken.Kind.USE, other, 600));
    credentials.put("preview", token(SandboxToken.Kind.PREVIEW, sandbox, 600));
    credentials.put("expired", token(SandboxToken.Kind.USE, sandbox, -1));
    credentials.put("envd", made.field("envdAccessToken"));
    planted.put("sandbox token", credentials.getOrDefault("token", ""));
  }

  @AfterAll
  void close() {
    testServer.close();
  }

  private String token(SandboxToken.Kind kind, String id, long seconds) {
    return testServer
        .keys
        .tokens()
        .sign(
            new SandboxToken(
                kind, new SandboxId(id), 0, testServer.keys.tokens().expiryAfter(seconds)))
        .reveal();
  }

  private static Map<String, List<String>> table() throws IOException {
    Map<String, List<String>> table = new TreeMap<>();
    try (InputStream in =
        CredentialMatrixTest.class.getResourceAsStream("/credential-matrix.txt")) {
      assertThat(in).isNotNull();
      for (String line : new String(in.readAllBytes(), UTF_8).lines().toList()) {
        List<String> words = List.of(line.strip().split("\\s+"));
        if (!line.isBlank() && !line.startsWith("#")) {
          table.put(words.get(0), words.subList(1, words.size()));
        }
      }
    }
    return table;
  }

  @Test
  void everyRouteAcceptsExactlyTheExpectedCredentialsAndDisclosesNoSecret() throws IOException {
    Map<String, List<String>> table = table();
    List<String> problems = new ArrayList<>();
    StringBuilder found = new StringBuilder();
    for (Route route : testServer.routes.all()) {
      List<String> row = new ArrayList<>();
      for (String column : COLUMNS) {
        TestClient.Response answer = send(route, column);
        row.add(cell(answer.status()));
        if (UNPRIVILEGED.contains(column)) {
          String whole = answer.headers() + "\n" + answer.text();
          planted.forEach(
              (what, secret) -> {
                if (whole.contains(secret)) {
                  problems.add(route.name() + " discloses " + what + " to " + column);
                }
              });
        }
      }
      if (!row.equals(table.get(route.name()))) {
        problems.add(route.name() + ": " + row + ", expected " + table.get(route.name()));
      }
      found.append(String.format("%-22s", route.name())).append(String.join(" ", row)).append('\n');
    }
    assertThat(problems).as("%s", found).isEmpty();
    assertThat(table).hasSameSizeAs(testServer.routes.all());
    assertThat(testServer.warnings).isEmpty();
    planted.forEach(
        (what, secret) ->
            assertThat(testServer.requests.toString())
                .as("log and " + what)
                .doesNotContain(secret));
  }

  @Test
  void secretVariableIsNeverDisclosed() throws IOException {
    for (String path : List.of("/api/v1/sandboxes", "/api/v1/sandboxes/" + initialized)) {
      assertThat(testServer.client().get(path).text())
          .contains("\"secretEnv\":[\"C\"]", ENV, INIT)
          .doesNotContain(SECRET);
    }
    Map<?, ?> spec =
        (Map<?, ?>) testServer.client().get("/api/v1/sandboxes/" + initialized).json().get("spec");
    assertThat(
            testServer
                .client()
                .post("/api/v1/sandboxes", new JsonMapper().writeValueAsString(spec))
                .status())
        .as("names in a response are not accepted as values")
        .isEqualTo(400);
  }

  @Test
  void tokensAndSecretVariablesAreNotStored() throws IOException {
    for (String what : List.of("secretEnv", "volume token", "envd token", "sandbox token")) {
      String secret = planted.getOrDefault(what, "");
      assertThat(secret).isNotEmpty();
      try (Stream<Path> files = Files.walk(folder)) {
        for (Path file : files.filter(Files::isRegularFile).toList()) {
          assertThat(new String(Files.readAllBytes(file), ISO_8859_1).contains(secret))
              .as(what + " in " + file)
              .isFalse();
        }
      }
    }
  }

  private static String cell(int status) {
    return status == 401 || status == 403 ? Integer.toString(status) : "in";
  }

  private TestClient.Response send(Route route, String column) throws IOException {
    boolean unprivileged = UNPRIVILEGED.contains(column);
    String path =
        route
            .template()
            .replace("{port}", "8000")
            .replace("{volume}", unprivileged ? volume : "missing")
            .replace("{execution}", execution)
            .replace("{rest}", "")
            .replace("{id}", usesRealSandbox(route, column) ? sandbox : "missing")
            .replaceAll("\\{[a-z]+}", "missing");
    Map<String, String> headers = new LinkedHashMap<>();
    String credential = credentials.getOrDefault(column, "");
    if (isEnvd(route)) {
      path = path.replaceFirst("^/envd/[^/]+", "");
      if (route.template().startsWith("/envd/")) {
        headers.put("E2b-Sandbox-Id", sandbox);
        headers.put("E2b-Sandbox-Port", "49983");
      }
    }
    if (!credential.isEmpty()) {
      headers.put(
          header(route),
          header(route).equals("Authorization") ? "Bearer " + credential : credential);
    }
    byte[] body = new byte[0];
    String query = unprivileged || !route.dialect().isNative() ? query(route) : "?nosuch=1";
    boolean json = route.body() instanceof Route.Body.Json && route.scope().isPresent();
    if (!route.dialect().isNative() && !unprivileged && json) {
      body = "[]".getBytes(UTF_8); // rejected after the credential is accepted
      headers.put("Content-Type", "application/json");
    }
    return answer(route, path + query, headers, body);
  }

  /**
   * Returns whether the request names the real sandbox. A privileged credential must not change
   * state that other cells need.
   */
  private static boolean usesRealSandbox(Route route, String column) {
    return UNPRIVILEGED.contains(column)
        || column.equals("token")
        || route.dialect().isNative()
        || route.method().equals("GET");
  }

  /** Returns a valid query, so that the request is processed if the credential allows it. */
  private static String query(Route route) {
    Map<String, String> values = Map.of("path", "/workspace", "after", "0", "pattern", "*");
    return route.parameters().stream()
        .filter(one -> one.where() == Parameter.Where.QUERY && values.containsKey(one.name()))
        .map(one -> one.name() + "=" + values.get(one.name()))
        .collect(Collectors.joining("&", "?", ""))
        .replaceFirst("\\?$", "");
  }

  private static boolean isEnvd(Route route) {
    return route.dialect() == E2bDialect.ENVD || route.dialect() == E2bDialect.CONNECT;
  }

  private static String header(Route route) {
    boolean volume = route.template().startsWith("/volumecontent/");
    return route.dialect() == E2bDialect.CONTROL && !volume
        ? E2bCredentials.KEY_HEADER
        : isEnvd(route) ? E2bCredentials.ENVD_HEADER : "Authorization";
  }

  /** Streams are endless: checks what arrives within a short time. */
  private TestClient.Response answer(
      Route route, String path, Map<String, String> headers, byte[] body) throws IOException {
    try (TestClient.OpenResponse open =
        testServer.client("").open(route.method(), path, headers, body)) {
      open.socket().setSoTimeout(300);
      ByteArrayOutputStream content = new ByteArrayOutputStream();
      byte[] buffer = new byte[8192];
      try {
        for (int n = open.body().read(buffer); n >= 0; n = open.body().read(buffer)) {
          content.write(buffer, 0, n);
        }
      } catch (SocketTimeoutException e) {
        assertThat(route.isStreaming()).as("only a stream stays open: %s", route.name()).isTrue();
      }
      return new TestClient.Response(
          open.status(), open.headers(), dev.isola.spi.Bytes.of(content.toByteArray()));
    }
  }
}
