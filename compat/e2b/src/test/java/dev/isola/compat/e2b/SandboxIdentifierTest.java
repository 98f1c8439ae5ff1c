package dev.isola.compat.e2b;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.codec.json.Json;
import dev.isola.compat.backend.BackendApi;
import dev.isola.compat.e2b.model.E2bCredentials;
import dev.isola.compat.e2b.model.E2bDialect;
import dev.isola.compat.e2b.model.E2bSettings;
import dev.isola.compat.mcp.HostingLimits;
import dev.isola.compat.mcp.McpApi;
import dev.isola.dashboard.DashboardApi;
import dev.isola.provider.subprocess.SubprocessProviderFactory;
import dev.isola.server.HttpServerOptions;
import dev.isola.server.TestClient;
import dev.isola.server.TestServer;
import dev.isola.server.access.HostAccessGuard;
import dev.isola.server.auth.SandboxToken;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.ImageService;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.ApiExtension;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Route;
import dev.isola.server.route.Shape;
import dev.isola.spi.SandboxId;
import dev.isola.spi.spec.NetworkMode;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * Names a sandbox in every spelling, in every parameter of every route of all APIs, and with every
 * kind of credential. A spelling that leads to the sandbox gets the response that its id gets;
 * every other one is refused like the id of a sandbox that does not exist. The sandbox has a folder
 * of the host, so that keys below scope admin may do nothing in it.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SandboxIdentifierTest {
  private static final String NAME = "the-admins";
  private static final String SUFFIX = "-isola";
  private static final String ABSENT = "absent0123456789";
  private static final Pattern PATH_PARAMETER = Pattern.compile("\\{([a-z]+)}");

  /** Parameters that change how a request is answered and name no sandbox. */
  private static final Set<String> NO_IDENTIFIERS =
      Set.of(
          "Idempotency-Key",
          "Last-Event-ID",
          "Range",
          "append",
          "close",
          "closeExisting",
          "exclusive",
          "force",
          "mode",
          "path",
          "recursive",
          "timeoutMs",
          "user");

  /** Credentials that may change nothing in the sandbox. */
  private static final List<String> LESSER =
      List.of("none", "read", "use", "other use", "other token", "preview", "expired");

  /** Spellings that are tried in every run, and in parameters that should not name a sandbox. */
  private static final List<String> ELSEWHERE =
      List.of("encoded", "suffix", "upper case", "longer", "name");

  private Path shared = Path.of("");
  private TestServer testServer;
  private String sandbox;
  private String execution;
  private String expiry;

  /** The credentials for a sandbox. */
  private final Map<String, UnaryOperator<String>> credentials = new LinkedHashMap<>();

  /** A sandbox of no value, for requests that have an effect. */
  private Optional<String> disposable = Optional.empty();

  /** Spellings of an id in a URL, by what is special about them. */
  private final Map<String, UnaryOperator<String>> spellings = new LinkedHashMap<>();

  /** A parameter of a route. */
  private record Place(Route route, String parameter, boolean inPath) {
    @Override
    public String toString() {
      return route.name() + " " + parameter;
    }
  }

  /** A response, without what differs from request to request. */
  private record Answer(int status, String error) {
    /** Returns whether the request led nowhere. E2B's clients expect 502 for an absent sandbox. */
    boolean isRefusal() {
      return (status >= 400 && status <= 404)
          || (status == 502 && error.contains("sandbox was not found"));
    }
  }

  /** Routes with the mistake that the test is to find: each reads the identifier for itself. */
  private record PlantedApi(ServerContext context) implements ApiExtension {
    @Override
    public List<Route> routes() {
      return List.of(
          Route.of("GET", "/planted/{box}", "plantedPath", "Finds a sandbox.")
              .needs(Scope.USE)
              .of(E2bDialect.CONTROL)
              .takes(Parameter.path("box", new Shape.NonEmptyText(100), "a sandbox"))
              .handledBy(exchange -> find(exchange, exchange.path("box"))),
          Route.of("GET", "/planted", "plantedQuery", "Finds a sandbox.")
              .needs(Scope.USE)
              .of(E2bDialect.CONTROL)
              .takes(Parameter.query("box", new Shape.NonEmptyText(100), "a sandbox"))
              .handledBy(exchange -> find(exchange, exchange.query("box").orElse(""))),
          Route.of("POST", "/planted/{id}/change", "plantedChange", "Changes a sandbox.")
              .needs(Scope.ADMIN)
              .takes(
                  Parameter.path(Route.SANDBOX, new Shape.NonEmptyText(100), "a sandbox"),
                  Parameter.query("box", new Shape.NonEmptyText(100), "another sandbox"),
                  Parameter.header("Box", new Shape.NonEmptyText(100), "another sandbox"))
              .takes(
                  new Route.Body.Json(
                      new Shape.Obj(
                          Shape.Field.optional(
                              "sandboxId", new Shape.NonEmptyText(100), "another sandbox")),
                      false))
              .handledBy(Exchange::noContent));
    }

    private void find(Exchange exchange, String text) throws IOException {
      String id = text.replaceFirst(SUFFIX + "$", "").toLowerCase(Locale.ROOT);
      context.sandboxes().view(new SandboxId(id));
      exchange.noContent();
    }
  }

  @BeforeAll
  void open(@TempDir Path folder) throws IOException {
    testServer =
        new TestServer(
            folder.resolve("server"),
            Duration.ofSeconds(30),
            new SubprocessProviderFactory(),
            context -> HttpServerOptions.NONE,
            Map.of("allow_host_folders", "true", "shutdown", "drain"),
            (context, keys, stored) ->
                List.of(
                    new E2bApi(
                        context,
                        keys,
                        new E2bSettings(
                            "subprocess",
                            NetworkMode.NONE,
                            Optional.of(stored),
                            Optional.empty(),
                            false),
                        ImageService.NONE),
                    new BackendApi(context, "subprocess"),
                    new McpApi(context, keys, "subprocess", "test", HostingLimits.DEFAULT),
                    new DashboardApi(),
                    new PlantedApi(context)));
    shared = Files.createDirectories(folder.resolve("shared"));
    sandbox = create("{\"workspacePath\":\"" + shared + "\",\"name\":\"" + NAME + "\"}");
    expiry = testServer.client().get("/api/v1/sandboxes/" + sandbox).field("expiresAt");
    execution =
        testServer
            .client()
            .post(
                "/api/v1/sandboxes/" + sandbox + "/executions",
                "{\"argv\":[\"cat\"],\"terminal\":{\"rows\":24,\"cols\":80}}")
            .field("id");
    String other = create("{}");
    String second = testServer.keys.create("other", Scope.USE).secret();
    credentials.put("none", id -> "");
    credentials.put("read", id -> testServer.read);
    credentials.put("use", id -> testServer.use);
    credentials.put("other use", id -> second);
    credentials.put("admin", id -> testServer.admin);
    credentials.put("token", id -> token(SandboxToken.Kind.USE, id, 600));
    credentials.put("read token", id -> token(SandboxToken.Kind.READ, id, 600));
    credentials.put("other token", id -> token(SandboxToken.Kind.USE, other, 600));
    credentials.put("preview", id -> token(SandboxToken.Kind.PREVIEW, id, 600));
    credentials.put("expired", id -> token(SandboxToken.Kind.USE, id, -1));
    credentials.put("envd", this::envdToken);
    spellings.put("encoded", SandboxIdentifierTest::encoded);
    spellings.put("suffix", id -> id + SUFFIX);
    spellings.put("encoded suffix", id -> encoded(id) + "%2Disola");
    spellings.put("suffix twice", id -> id + SUFFIX + SUFFIX);
    spellings.put("suffix alone", id -> SUFFIX);
    spellings.put("other suffix", id -> id + "-other");
    spellings.put("upper case", id -> id.toUpperCase(Locale.ROOT));
    spellings.put("prefix", id -> id.substring(0, 10));
    spellings.put("longer", id -> id + "0");
    spellings.put("name", id -> NAME);
    spellings.put("name with suffix", id -> NAME + SUFFIX);
    spellings.put("space", id -> id + "%20");
    spellings.put("zero byte", id -> id + "%00");
    spellings.put("slash", id -> id + "%2F");
    spellings.put("other folder", id -> "x%2F..%2F" + id);
    spellings.put("semicolon", id -> id + ";a=b");
    spellings.put("encoded twice", id -> encoded(id).replace("%", "%25"));
  }

  @AfterAll
  void close() {
    testServer.close();
  }

  private static String encoded(String id) {
    return "%" + Integer.toHexString(id.charAt(0)) + id.substring(1);
  }

  private String create(String spec) throws IOException {
    TestClient.Response made = testServer.client().post("/api/v1/sandboxes", spec);
    assertThat(made.status()).as(made.text()).isEqualTo(201);
    return made.field("id");
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

  private String envdToken(String id) {
    return testServer.keys.tokens().stableToken(new SandboxId(id), E2bCredentials.ENVD).reveal();
  }

  private String secret(String credential, String id) {
    return credentials.getOrDefault(credential, UnaryOperator.identity()).apply(id);
  }

  private void assertUnchanged() throws IOException {
    TestClient admin = testServer.client();
    assertThat(admin.get("/api/v1/sandboxes/" + sandbox).json())
        .containsEntry("state", "running")
        .containsEntry("expiresAt", expiry);
    assertThat(admin.get("/api/v1/snapshots?sandbox=" + sandbox).list("snapshots")).isEmpty();
    assertThat(shared).isEmptyDirectory();
  }

  /** Returns all parameters of all routes that can contain the id of a sandbox. */
  private List<Place> places() {
    List<Place> places = new ArrayList<>();
    for (Route route : testServer.routes.all()) {
      Matcher found = PATH_PARAMETER.matcher(route.template());
      while (found.find()) {
        places.add(new Place(route, found.group(1), true));
      }
      // A request that changes the sandbox in its path is not sent with values of its own.
      route.parameters().stream()
          .filter(one -> one.where() == Parameter.Where.QUERY)
          .filter(_ -> route.method().equals("GET") || !route.hasSandbox())
          .forEach(one -> places.add(new Place(route, one.name(), false)));
    }
    return places;
  }

  /**
   * Where an identifier is not tried: in the query of a request that changes a sandbox, in headers
   * and in bodies. A route that could take one there fails this test.
   */
  @Test
  void noOtherPartOfARequestNamesASandbox() {
    List<String> found = new ArrayList<>();
    for (Route route : testServer.routes.all()) {
      route.parameters().stream()
          .filter(
              one ->
                  one.where() == Parameter.Where.HEADER
                      || (one.where() == Parameter.Where.QUERY
                          && !route.method().equals("GET")
                          && route.hasSandbox()))
          .filter(one -> !NO_IDENTIFIERS.contains(one.name()))
          .forEach(one -> found.add(route.name() + " " + one.name()));
      if (route.body() instanceof Route.Body.Json json) {
        fields(json.shape())
            .filter(name -> name.toLowerCase(Locale.ROOT).contains("sandbox"))
            .forEach(name -> found.add(route.name() + " " + name));
      }
    }
    assertThat(found)
        .containsExactlyInAnyOrder(
            "plantedChange box", "plantedChange Box", "plantedChange sandboxId");
  }

  private static Stream<String> fields(Shape shape) {
    Stream<String> own =
        shape instanceof Shape.Obj object
            ? object.fields().stream().map(Shape.Field::name)
            : Stream.of();
    return Stream.concat(own, shape.parts().stream().flatMap(SandboxIdentifierTest::fields));
  }

  @Test
  void usualSpellingsGetTheResponseOfTheIdOrAreRefused() throws IOException {
    check(ELSEWHERE, List.of("none", "use", "token"), 100);
  }

  @Test
  @Tag("all")
  void everySpellingGetsTheResponseOfTheIdOrIsRefused() throws IOException {
    check(spellings.keySet(), credentials.keySet(), 500);
  }

  private void check(
      Collection<String> usedSpellings, Collection<String> usedCredentials, int atLeast)
      throws IOException {
    List<String> problems = new ArrayList<>();
    int led = 0;
    for (Place place : places()) {
      boolean named = place.parameter().equals(Route.SANDBOX);
      for (String credential : usedCredentials) {
        if (!named && !List.of("use", "token").contains(credential)) {
          continue;
        }
        Answer absent = send(place, sandbox, ABSENT, credential);
        boolean effective = named && hasEffect(place.route(), credential);
        Answer expected = sendTo(place, UnaryOperator.identity(), credential, effective);
        if (!effective && isOpen(place.route(), credential, expected, absent)) {
          problems.add(place + " is open to " + credential + ": " + expected);
        }
        for (Map.Entry<String, UnaryOperator<String>> spelling : spellings.entrySet()) {
          if (!(named ? usedSpellings : ELSEWHERE).contains(spelling.getKey())) {
            continue;
          }
          boolean leads = leads(place, spelling.getKey());
          Answer answer = sendTo(place, spelling.getValue(), credential, leads && effective);
          boolean right =
              leads ? answer.equals(expected) : answer.isRefusal() || answer.equals(absent);
          if (!right) {
            problems.add(
                place
                    + " as "
                    + spelling.getKey()
                    + " with "
                    + credential
                    + ": "
                    + answer
                    + ", the id "
                    + expected
                    + ", an absent one "
                    + absent);
          }
          led += leads ? 1 : 0;
        }
      }
    }
    for (String planted : List.of("plantedPath box", "plantedQuery box")) {
      assertThat(problems)
          .as("%s is found", planted)
          .anyMatch(one -> one.startsWith(planted + " is open to use"))
          .anyMatch(one -> one.startsWith(planted + " as suffix with use"));
    }
    assertThat(problems.stream().filter(one -> !one.startsWith("planted"))).isEmpty();
    assertThat(led).isGreaterThan(atLeast);
    assertUnchanged();
  }

  /** The first versions of E2B's clients append a suffix. Other parameters name no sandbox. */
  private static boolean leads(Place place, String spelling) {
    return place.parameter().equals(Route.SANDBOX)
        ? spelling.equals("encoded")
            || (List.of("suffix", "encoded suffix").contains(spelling)
                && place.route().dialect() instanceof E2bDialect)
        : spelling.equals("encoded");
  }

  /** Returns whether a request with this credential could change the sandbox. */
  private static boolean hasEffect(Route route, String credential) {
    return !route.method().equals("GET") && !LESSER.contains(credential);
  }

  /** Returns whether a route tells a key more about the sandbox than that it exists. */
  private static boolean isOpen(Route route, String credential, Answer answer, Answer absent) {
    return LESSER.contains(credential)
        && answer.status() < 400
        && !answer.equals(absent)
        && route.scope().isPresent()
        && !HostAccessGuard.DESCRIPTIONS.contains(route.name());
  }

  /** Sends a request to the sandbox, or if it will have an effect to one of no value. */
  private Answer sendTo(
      Place place, UnaryOperator<String> spelling, String credential, boolean effective)
      throws IOException {
    if (!effective) {
      return send(place, sandbox, spelling.apply(sandbox), credential);
    }
    String id = disposable.isPresent() ? disposable.get() : create("{}");
    disposable = Optional.of(id);
    Answer answer = send(place, id, spelling.apply(id), credential);
    if (answer.status() < 400) {
      testServer.client().delete("/api/v1/sandboxes/" + id + "?force=true");
      disposable = Optional.empty();
    }
    return new Answer(answer.status(), answer.error().replace(id, sandbox));
  }

  /**
   * Sends a request with an identifier in one place, and a credential for a sandbox.
   *
   * @param id the sandbox, which stands wherever else the route needs one
   */
  private Answer send(Place place, String id, String value, String credential) throws IOException {
    Route route = place.route();
    String path = route.template();
    if (place.inPath()) {
      path = path.replace("{" + place.parameter() + "}", value);
    }
    path =
        path.replace("{id}", id)
            .replace("{port}", "8000")
            .replace("{execution}", execution)
            .replace("{rest}", "")
            .replaceAll("\\{[a-z]+}", "missing");
    Map<String, String> headers = new LinkedHashMap<>();
    byte[] body = new byte[0];
    if (route.body() instanceof Route.Body.Json json) {
      headers.put("Content-Type", "application/json");
      body = Json.bytes(json.shape().example());
    }
    boolean webSocket = route.answers().status() == 101;
    String secret = secret(credential, id);
    if (credential.equals("envd")) {
      headers.put(E2bCredentials.ENVD_HEADER, secret);
    } else if (!secret.isEmpty()) {
      headers.put(E2bCredentials.KEY_HEADER, secret);
      if (!webSocket) {
        headers.put("Authorization", "Bearer " + secret);
      }
    }
    if (webSocket) { // a browser sends the credential among the subprotocols
      String protocols = "isola.terminal.v1" + (secret.isEmpty() ? "" : ", isola.bearer." + secret);
      headers.put("Connection", "Upgrade");
      headers.put("Upgrade", "websocket");
      headers.put("Sec-WebSocket-Version", "13");
      headers.put("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==");
      headers.put("Sec-WebSocket-Protocol", protocols);
    }
    return answer(route.method(), path + query(place, value), headers, body);
  }

  /** Returns a valid query, so that a request that is not refused has its effect. */
  private static String query(Place place, String value) {
    Map<String, String> values = new LinkedHashMap<>();
    Map<String, String> usual =
        Map.of("path", ".", "pattern", "*", "follow", "false", "state", "running");
    for (Parameter one : place.route().parameters()) {
      if (one.where() == Parameter.Where.QUERY && usual.containsKey(one.name())) {
        values.put(one.name(), usual.getOrDefault(one.name(), ""));
      }
    }
    if (!place.inPath()) {
      values.put(place.parameter(), value);
    }
    List<String> pairs = new ArrayList<>();
    values.forEach((name, text) -> pairs.add(name + "=" + text));
    return pairs.isEmpty() ? "" : "?" + String.join("&", pairs);
  }

  private Answer answer(String method, String path, Map<String, String> headers, byte[] body)
      throws IOException {
    try (TestClient.OpenResponse open = testServer.client("").open(method, path, headers, body)) {
      String error = "";
      if (open.status() >= 400) {
        error =
            new String(open.body().readAllBytes(), UTF_8)
                .replaceAll("\"(requestId|timestamp)\":\"[^\"]*\"", "");
      }
      return new Answer(open.status(), error);
    } catch (SocketException | InterruptedIOException e) {
      throw new IOException(method + " " + path + ": " + e.getMessage(), e);
    }
  }

  /** Host names have no case, and E2B's clients may append the suffix. */
  @Test
  void everySpellingInAHostNameGetsTheResponseOfTheIdOrIsRefused() throws IOException {
    List<String> same =
        List.of(
            sandbox + SUFFIX,
            sandbox.toUpperCase(Locale.ROOT),
            (sandbox + SUFFIX).toUpperCase(Locale.ROOT));
    List<String> none =
        List.of(
            sandbox + SUFFIX + SUFFIX,
            sandbox + "-other",
            sandbox.substring(0, 10),
            sandbox + "0",
            NAME,
            NAME + SUFFIX,
            encoded(sandbox),
            sandbox + ".",
            "x." + sandbox);
    List<Integer> statuses = new ArrayList<>();
    for (String port : List.of("8000", "49983")) {
      for (String path : List.of("/", "/envs")) {
        for (String credential : credentials.keySet()) {
          Answer expected = sendToHost(port + "-" + sandbox, path, credential);
          statuses.add(expected.status());
          for (String spelling : same) {
            assertThat(sendToHost(port + "-" + spelling, path, credential))
                .as("%s %s %s %s", port, path, credential, spelling)
                .isEqualTo(expected);
          }
          for (String spelling : none) {
            assertThat(sendToHost(port + "-" + spelling, path, credential).status())
                .as("%s %s %s %s", port, path, credential, spelling)
                .isGreaterThanOrEqualTo(400);
          }
        }
      }
    }
    assertThat(statuses).as("refused and accepted credentials").contains(401, 200);
    assertUnchanged();
  }

  private Answer sendToHost(String name, String path, String credential) throws IOException {
    Map<String, String> headers = withCredential(credential);
    headers.put("Host", name + ".localhost");
    return answer("GET", path, headers, new byte[0]);
  }

  private Map<String, String> withCredential(String credential) {
    Map<String, String> headers = new LinkedHashMap<>();
    String secret = secret(credential, sandbox);
    if (!secret.isEmpty()) {
      headers.put("Authorization", "Bearer " + secret);
      headers.put(E2bCredentials.ENVD_HEADER, secret);
    }
    return headers;
  }

  @Test
  void spellingInAHeaderOfE2bLeadsNowhere() throws IOException {
    for (String credential : credentials.keySet()) {
      assertThat(sendWithHeader(sandbox, credential).status() == 200)
          .as(credential)
          .isEqualTo(credential.equals("envd"));
      for (String spelling :
          Stream.concat(
                  spellings.values().stream().map(one -> one.apply(sandbox)),
                  Stream.of(sandbox + "," + sandbox, sandbox + " x", ABSENT))
              .toList()) {
        assertThat(sendWithHeader(spelling, credential).status())
            .as("%s %s", spelling, credential)
            .isGreaterThanOrEqualTo(400);
      }
    }
    assertUnchanged();
  }

  private Answer sendWithHeader(String spelling, String credential) throws IOException {
    Map<String, String> headers = withCredential(credential);
    headers.put("E2b-Sandbox-Id", spelling);
    headers.put("E2b-Sandbox-Port", "49983");
    return answer("GET", "/envs", headers, new byte[0]);
  }
}
