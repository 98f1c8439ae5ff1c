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
 * Every route with every kind of credential. {@code credential-matrix.txt} has the expected answer
 * of each cell: 401, 403, or {@code in} for any other; a route that is not in it fails the test.
 * Secrets are planted beforehand, and no answer to a credential that could not use them has one.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CredentialMatrixTest {
  private static final String ENV = "planted-env-6c1f";
  private static final String SECRET = "planted-secret-40f2";
  private static final String INIT = "planted-init-93ab";

  /** The columns of the table, in order. */
  private static final List<String> COLUMNS =
      List.of("none", "read", "use", "admin", "token", "other", "preview", "expired", "envd");

  /** These credentials change nothing, so that real requests can be sent with them. */
  private static final List<String> LESSER = List.of("none", "read", "other", "preview", "expired");

  private Path folder;
  private TestServer house;
  private String initialized;
  private String sandbox;
  private String volume;
  private String execution;
  private final Map<String, String> credentials = new LinkedHashMap<>();
  private final Map<String, String> planted = new LinkedHashMap<>();

  @BeforeAll
  void open(@TempDir Path place) throws IOException {
    folder = place;
    house = E2bTestServer.open(folder);
    TestClient admin = house.client();
    TestClient.Response made =
        house
            .client("")
            .send(
                "POST",
                "/v2/sandboxes",
                Map.of("X-API-KEY", house.admin, "Content-Type", "application/json"),
                ("{\"templateID\":\"host\",\"envVars\":{\"PLANTED\":\""
                        + ENV
                        + "\"},\"network\":{\"allowPublicTraffic\":false}}")
                    .getBytes(UTF_8));
    assertThat(made.status()).as(made.text()).isEqualTo(201);
    sandbox = made.field("sandboxID");
    planted.put("env", ENV);
    planted.put("envd token", made.field("envdAccessToken"));
    planted.put("traffic token", made.field("trafficAccessToken"));
    TestClient.Response made2 =
        admin.post(
            "/api/v1/sandboxes",
            "{\"init\":{\"command\":\"true\",\"env\":{\"A\":\""
                + INIT
                + "\"}},\"env\":{\"B\":\""
                + ENV
                + "\"},\"secretEnv\":{\"C\":\""
                + SECRET
                + "\"}}");
    assertThat(made2.status()).as(made2.text()).isEqualTo(201);
    planted.put("init", INIT);
    planted.put("secretEnv", SECRET);
    String other = made2.field("id");
    initialized = other;
    volume = house.plantVolume();
    planted.put(
        "volume token",
        house
            .client("")
            .send("GET", "/volumes/" + volume, Map.of("X-API-KEY", house.admin), new byte[0])
            .field("token"));
    execution =
        admin
            .post("/api/v1/sandboxes/" + sandbox + "/executions", "{\"command\":\"echo out\"}")
            .field("id");
    planted.put("admin key", house.admin);
    planted.put("use key", house.use);
    credentials.put("none", "");
    credentials.put("read", house.read);
    credentials.put("use", house.use);
    credentials.put("admin", house.admin);
    credentials.put("token", token(SandboxToken.Kind.USE, sandbox, 600));
    credentials.put("other", token(SandboxToken.Kind.USE, other, 600));
    credentials.put("preview", token(SandboxToken.Kind.PREVIEW, sandbox, 600));
    credentials.put("expired", token(SandboxToken.Kind.USE, sandbox, -1));
    credentials.put("envd", made.field("envdAccessToken"));
    planted.put("sandbox token", credentials.getOrDefault("token", ""));
  }

  @AfterAll
  void close() {
    house.close();
  }

  private String token(SandboxToken.Kind kind, String id, long seconds) {
    return house
        .keys
        .tokens()
        .sign(
            new SandboxToken(kind, new SandboxId(id), 0, house.keys.tokens().expiryAfter(seconds)))
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
  void everyCredentialGetsItsAnswerOnEveryRouteAndNoSecretItCouldNotUse() throws IOException {
    Map<String, List<String>> table = table();
    List<String> problems = new ArrayList<>();
    StringBuilder found = new StringBuilder();
    for (Route route : house.routes.all()) {
      List<String> row = new ArrayList<>();
      for (String column : COLUMNS) {
        TestClient.Response answer = send(route, column);
        row.add(cell(answer.status()));
        if (LESSER.contains(column)) {
          String whole = answer.headers() + "\n" + answer.text();
          planted.forEach(
              (what, secret) -> {
                if (whole.contains(secret)) {
                  problems.add(route.name() + " answers " + what + " to " + column);
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
    assertThat(table).hasSameSizeAs(house.routes.all());
    assertThat(house.warnings).isEmpty();
    planted.forEach(
        (what, secret) ->
            assertThat(house.requests.toString()).as("log and " + what).doesNotContain(secret));
  }

  @Test
  void noAnswerHasTheValueOfASecretVariableNotEvenToAnAdministrator() throws IOException {
    for (String path : List.of("/api/v1/sandboxes", "/api/v1/sandboxes/" + initialized)) {
      assertThat(house.client().get(path).text())
          .contains("\"secretEnv\":[\"C\"]", ENV, INIT)
          .doesNotContain(SECRET);
    }
    Map<?, ?> spec =
        (Map<?, ?>) house.client().get("/api/v1/sandboxes/" + initialized).json().get("spec");
    assertThat(
            house
                .client()
                .post("/api/v1/sandboxes", new JsonMapper().writeValueAsString(spec))
                .status())
        .as("what was answered is not taken for the values")
        .isEqualTo(400);
  }

  @Test
  void neitherTokensNorSecretVariablesAreInAFile() throws IOException {
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
    boolean lesser = LESSER.contains(column);
    String path =
        route
            .template()
            .replace("{port}", "8000")
            .replace("{volume}", lesser ? volume : "nobody")
            .replace("{execution}", execution)
            .replace("{rest}", "")
            .replace("{id}", ofSandbox(route, column) ? sandbox : "nobody")
            .replaceAll("\\{[a-z]+}", "nobody");
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
    String query = lesser || !route.dialect().isNative() ? query(route) : "?nosuch=1";
    boolean json = route.body() instanceof Route.Body.Json && route.scope().isPresent();
    if (!route.dialect().isNative() && !lesser && json) {
      body = "[]".getBytes(UTF_8); // is refused once the credential was accepted
      headers.put("Content-Type", "application/json");
    }
    return answer(route, path + query, headers, body);
  }

  /** A greater credential changes nothing that the other cells need. */
  private static boolean ofSandbox(Route route, String column) {
    return LESSER.contains(column)
        || column.equals("token")
        || route.dialect().isNative()
        || route.method().equals("GET");
  }

  /** The query of a request that is worked on, where the credential allows it. */
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

  /** Streams have no end: what is there within a moment is looked at. */
  private TestClient.Response answer(
      Route route, String path, Map<String, String> headers, byte[] body) throws IOException {
    try (TestClient.OpenResponse open =
        house.client("").open(route.method(), path, headers, body)) {
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
