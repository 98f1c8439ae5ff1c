package dev.isola.provider.http;

import static dev.isola.provider.http.LyingServer.answering;
import static dev.isola.provider.http.LyingServer.json;
import static dev.isola.provider.http.LyingServer.problem;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import dev.isola.conformance.TemporaryFolder;
import dev.isola.provider.http.LyingServer.Lie;
import dev.isola.provider.http.LyingServer.Request;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Forking;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.file.ReadRange;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.spec.SandboxSpec;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * B9: a backend that lies, hangs, floods, redirects or answers other types gets a clear error in
 * bounded time, and leaves no thread, socket or descriptor.
 */
@Timeout(60)
class LyingBackendTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(2); // a busy machine needs 1
  private static final String SECRET = "a-key-that-must-not-be-printed";
  private static final SandboxId ID = new SandboxId("box");

  /** What is called. */
  enum Operation {
    HEALTH(_ -> {}),
    CREATE(provider -> provider.create(spec())),
    ATTACH(provider -> provider.attach(ID)),
    INVENTORY(HttpProvider::inventory),
    DESTROY(provider -> provider.destroy(ID, new DestroyOptions(true, TIMEOUT))),
    EXEC(provider -> created(provider).run(command())),
    READ(
        provider -> {
          try (var in = created(provider).files().read("f", ReadRange.ALL)) {
            in.readAllBytes();
          } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
          }
        }),
    WRITE(
        provider ->
            created(provider)
                .files()
                .write(
                    "f",
                    new ByteArrayInputStream(new byte[10]),
                    dev.isola.spi.file.WriteOptions.DEFAULT)),
    LIST(provider -> created(provider).files().list("/workspace", 1).close()),
    PAUSE(
        provider ->
            created(provider).as(Pausing.class).orElseThrow().pause(Pausing.PauseKind.MEMORY)),
    USAGE(provider -> created(provider).as(UsageReporting.class).orElseThrow().usage()),
    FORK(provider -> created(provider).as(Forking.class).orElseThrow().createForkPoint());

    @SuppressWarnings("ImmutableEnumChecker") // the actions above capture no state
    private final Consumer<HttpProvider> action;

    Operation(Consumer<HttpProvider> action) {
      this.action = action;
    }
  }

  /**
   * One way to misbehave.
   *
   * @param code of the error; that of an unhealthy provider is not used
   * @param part of the message
   */
  record Case(
      String name,
      Operation operation,
      UnaryOperator<LyingServer> plan,
      ErrorCode code,
      String part) {
    /** Returns whether the response is so long that a busy machine needs time for it. */
    boolean isLong() {
      return part.equals("longer than the limit");
    }

    @Override
    public String toString() {
      return name;
    }
  }

  private static SandboxSpec spec() {
    return SandboxSpec.builder(ID).startupTimeout(Duration.ofSeconds(4)).build();
  }

  private static Command command() {
    return Command.argv("true").withTimeout(Duration.ofMillis(300));
  }

  private static Sandbox created(HttpProvider provider) {
    return provider.create(SandboxSpec.builder(ID).build());
  }

  private static Case of(
      String name, Operation operation, String route, Lie lie, ErrorCode code, String part) {
    return new Case(name, operation, server -> server.on(route, lie), code, part);
  }

  private static Case info(String name, String document, String part) {
    return new Case(
        name,
        Operation.HEALTH,
        server -> server.info(document),
        ErrorCode.PROVIDER_UNAVAILABLE,
        part);
  }

  private static Case exec(String name, String document, String part) {
    return of(name, Operation.EXEC, "POST /exec", json(document), ErrorCode.OUTCOME_UNKNOWN, part);
  }

  private static Case list(String name, String entry, String type, String part) {
    return new Case(
        name,
        Operation.LIST,
        server ->
            server
                .on("POST /exec", json(LyingServer.stat("directory")))
                .on(
                    "GET /list",
                    json(
                        "{\"entries\":[{\"name\":\"%s\",\"type\":\"%s\"}]}"
                            .formatted(entry, type))),
        ErrorCode.PROVIDER_UNAVAILABLE,
        part);
  }

  private static final Lie HANG = (request, _) -> request.awaitHangUp();

  /** Sends byte by byte, so that no read times out. */
  private static void drip(Request request, OutputStream out, String text) throws IOException {
    for (byte one : text.getBytes(ISO_8859_1)) {
      out.write(one);
      out.flush();
      if (request.isClosedWithin(Duration.ofMillis(100))) {
        return;
      }
    }
  }

  private static void flood(OutputStream out, String head, String piece) throws IOException {
    out.write(head.getBytes(ISO_8859_1));
    byte[] bytes = piece.repeat(1000).getBytes(ISO_8859_1);
    while (true) { // until the client closes the connection
      out.write(bytes);
    }
  }

  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";

  private static String withField(String name, String value) {
    String good =
        "\"protocol\":1,\"name\":\"liar\",\"level\":\"simple\",\"isolation\":\"process\","
            + "\"health\":{\"status\":\"healthy\"}";
    return "{"
        + good.replaceAll("\"" + name + "\":(\\{[^}]*\\}|[^,]*)", "\"" + name + "\":" + value)
        + "}";
  }

  static Stream<Case> transport() {
    String info = "GET /v1/info";
    ErrorCode down = ErrorCode.PROVIDER_UNAVAILABLE;
    return Stream.of(
        of("hangs before the header", Operation.HEALTH, info, HANG, down, "within 2000 ms"),
        of(
            "hangs in the header",
            Operation.HEALTH,
            info,
            (request, out) -> {
              out.write("HTTP/1.1 200 OK\r\nContent-".getBytes(ISO_8859_1));
              out.flush();
              request.awaitHangUp();
            },
            down,
            "within 2000 ms"),
        of(
            "hangs in the body",
            Operation.HEALTH,
            info,
            (request, out) -> {
              out.write((OK + "Content-Length: 100\r\n\r\n{").getBytes(ISO_8859_1));
              out.flush();
              request.awaitHangUp();
            },
            down,
            "within 2000 ms"),
        of(
            "drips the header",
            Operation.HEALTH,
            info,
            (request, out) -> drip(request, out, OK + "Content-Length: 2\r\n\r\n{}"),
            down,
            "within 2000 ms"),
        of(
            "drips the body",
            Operation.HEALTH,
            info,
            (request, out) -> {
              out.write((OK + "Content-Length: 200\r\n\r\n").getBytes(ISO_8859_1));
              drip(request, out, " ".repeat(200));
            },
            down,
            "within 2000 ms"),
        of(
            "floods the header",
            Operation.HEALTH,
            info,
            (_, out) -> flood(out, OK, "X-Flood: aaaaaaaaaaaaaaaa\r\n"),
            down,
            "info at"),
        of(
            "floods the body",
            Operation.HEALTH,
            info,
            (_, out) -> flood(out, OK + "Connection: close\r\n\r\n", "[[[[[[[[[[[["),
            down,
            "info at"),
        of(
            "closes in the middle",
            Operation.HEALTH,
            info,
            (_, out) -> out.write((OK + "Content-Length: 100\r\n\r\n{").getBytes(ISO_8859_1)),
            down,
            "info at"),
        of("closes at once", Operation.HEALTH, info, (_, _) -> {}, down, "info at"),
        of(
            "does not speak HTTP",
            Operation.HEALTH,
            info,
            (_, out) -> out.write("SSH-2.0-OpenSSH_9.2\r\n\r\n".getBytes(ISO_8859_1)),
            down,
            "info at"),
        of(
            "redirects (301)",
            Operation.HEALTH,
            info,
            (_, out) ->
                out.write(
                    "HTTP/1.1 301 Moved\r\nLocation: http://127.0.0.2:9/\r\nContent-Length: 0\r\n\r\n"
                        .getBytes(ISO_8859_1)),
            down,
            "redirect 301"),
        of(
            "redirects (307)",
            Operation.DESTROY,
            "DELETE .*",
            (_, out) ->
                out.write(
                    "HTTP/1.1 307 Moved\r\nLocation: http://127.0.0.2:9/\r\nContent-Length: 0\r\n\r\n"
                        .getBytes(ISO_8859_1)),
            down,
            "redirect 307"),
        of(
            "answers HTML",
            Operation.HEALTH,
            info,
            answering("200 OK", "text/html", "<html></html>"),
            down,
            "content type 'text/html'"),
        of(
            "has no content type",
            Operation.HEALTH,
            info,
            (_, out) ->
                out.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}".getBytes(ISO_8859_1)),
            down,
            "content type ''"),
        of(
            "answers 401",
            Operation.HEALTH,
            info,
            answering("401 No", "text/html", "who are you"),
            down,
            "rejected the key"),
        of(
            "answers 403 with a problem",
            Operation.CREATE,
            "PUT .*",
            problem("403 No", "FORBIDDEN", "no"),
            down,
            "rejected the key"),
        of(
            "answers 404 without a problem",
            Operation.ATTACH,
            "GET /v1/sandboxes/.*",
            answering("404 No", "text/html", "nothing"),
            down,
            "404 without a problem"),
        of(
            "answers 429",
            Operation.EXEC,
            "POST /exec",
            answering("429 Slow", "text/plain", ""),
            ErrorCode.RATE_LIMITED,
            "429"),
        of(
            "answers 500 to an exec",
            Operation.EXEC,
            "POST /exec",
            answering("500 Oops", "text/html", "<p>"),
            ErrorCode.OUTCOME_UNKNOWN,
            "500"),
        of(
            "answers 502 to a read",
            Operation.READ,
            "GET /files",
            answering("502 Bad", "text/html", "<p>"),
            down,
            "502"),
        of(
            "answers 503 to a destroy",
            Operation.DESTROY,
            "DELETE .*",
            answering("503 Later", "text/html", ""),
            down,
            "503"));
  }

  static Stream<Case> documents() {
    ErrorCode down = ErrorCode.PROVIDER_UNAVAILABLE;
    return Stream.of(
        info("is not JSON", "{\"protocol\":", "not valid JSON"),
        info("is deeply nested", "[".repeat(5000) + "]".repeat(5000), "not valid JSON"),
        info("is a list", "[]", "not an object"),
        info("repeats a field", "{\"protocol\":1,\"protocol\":1}", "not valid JSON"),
        info("has another protocol", withField("protocol", "2"), "version 2"),
        info("has a text as protocol", withField("protocol", "\"1\""), "protocol is not"),
        info("has an unknown level", withField("level", "\"best\""), "level 'best'"),
        info(
            "has an unknown isolation",
            withField("isolation", "\"unbreakable\""),
            "isolation 'unbreakable'"),
        info(
            "has an unknown health",
            withField("health", "{\"status\":\"great\"}"),
            "health 'great'"),
        info("has no health", withField("health", "null"), "health is not an object"),
        info(
            "relays without an architecture",
            withField("level", "\"channel\""),
            "architecture is missing"),
        info(
            "has an unknown channel",
            withField("level", "\"channel\",\"channel\":\"pigeon\""),
            "channel 'pigeon'"),
        info(
            "has a number among its capabilities",
            withField("level", "\"simple\",\"capabilities\":[7]"),
            "capabilities is not a string"),
        of(
            "creates another sandbox",
            Operation.CREATE,
            "PUT .*",
            (request, out) ->
                out.write(
                    LyingServer.response(
                        "201 OK",
                        "application/json",
                        LyingServer.sandbox(request, "").replace("\"box\"", "\"other\""))),
            down,
            "another sandbox"),
        of(
            "creates with another id",
            Operation.CREATE,
            "PUT .*",
            (request, out) ->
                out.write(
                    LyingServer.response(
                        "201 OK",
                        "application/json",
                        LyingServer.sandbox(request, "").replace("isola", "alosi"))),
            down,
            "another sandbox"),
        of(
            "creates in an unknown state",
            Operation.CREATE,
            "PUT .*",
            (request, out) ->
                out.write(
                    LyingServer.response(
                        "201 OK",
                        "application/json",
                        LyingServer.sandbox(request, "").replace("running", "dancing"))),
            down,
            "state 'dancing'"),
        of(
            "creates with a weaker isolation",
            Operation.CREATE,
            "PUT .*",
            (request, out) ->
                out.write(
                    LyingServer.response(
                        "201 OK",
                        "application/json",
                        LyingServer.sandbox(request, ",\"isolation\":\"sieve\""))),
            down,
            "isolation 'sieve'"),
        new Case(
            "declares vm and creates a process",
            Operation.CREATE,
            server ->
                server
                    .info(server.info().replace("\"process\"", "\"vm\""))
                    .on(
                        "PUT .*",
                        (request, out) ->
                            out.write(
                                LyingServer.response(
                                    "201 OK",
                                    "application/json",
                                    LyingServer.sandbox(request, ",\"isolation\":\"process\"")))),
            down,
            "isolation VM"),
        of(
            "create hangs",
            Operation.CREATE,
            "PUT .*",
            HANG,
            ErrorCode.DEADLINE_EXCEEDED,
            "no complete response"),
        new Case(
            "create and destroy hang",
            Operation.CREATE,
            server -> server.on("PUT .*", HANG).on("DELETE .*", HANG),
            ErrorCode.OUTCOME_UNKNOWN,
            "may exist"),
        of(
            "create answers a code of Isola's own clients",
            Operation.CREATE,
            "PUT .*",
            problem("400 No", "KEY_NOT_FOUND", "your key"),
            down,
            "400 without a problem"),
        of(
            "destroy answers 200 with HTML",
            Operation.DESTROY,
            "DELETE .*",
            answering("200 OK", "text/html", "<p>done"),
            down,
            "status 200"),
        of(
            "lists endless pages",
            Operation.INVENTORY,
            "GET /v1/sandboxes",
            (_, out) ->
                out.write(
                    LyingServer.response(
                        "200 OK",
                        "application/json",
                        "{\"sandboxes\":[],\"next\":\"" + System.nanoTime() + "\"}")),
            down,
            "more than 100 pages"),
        of(
            "repeats a page",
            Operation.INVENTORY,
            "GET /v1/sandboxes",
            json("{\"sandboxes\":[],\"next\":\"same\"}"),
            down,
            "do not end"),
        of(
            "lists too much on a page",
            Operation.INVENTORY,
            "GET /v1/sandboxes",
            json("{\"sandboxes\":[" + "{},".repeat(1000) + "{}]}"),
            down,
            "more than 1000"),
        of(
            "lists a text",
            Operation.INVENTORY,
            "GET /v1/sandboxes",
            json("{\"sandboxes\":\"all\"}"),
            down,
            "not a list"));
  }

  static Stream<Case> operations() {
    ErrorCode down = ErrorCode.PROVIDER_UNAVAILABLE;
    String end = "\"stdout\":\"\",\"stderr\":\"\",\"durationMs\":1}";
    return Stream.of(
        exec("exec without an end", "{" + end, "one of exitCode"),
        exec("exec with two ends", "{\"exitCode\":0,\"signal\":9," + end, "has 2"),
        exec("exec with a code out of range", "{\"exitCode\":256," + end, "between 0 and 255"),
        exec("exec with a negative code", "{\"exitCode\":-1," + end, "positive integer"),
        exec("exec with signal 0", "{\"signal\":0," + end, "between 1 and 64"),
        exec("exec without output", "{\"exitCode\":0,\"durationMs\":1}", "stdout is missing"),
        exec(
            "exec with invalid base64",
            "{\"exitCode\":0,\"stdout\":\"%%%\",\"stderr\":\"\",\"durationMs\":1}",
            "not base64"),
        exec(
            "exec with more output than asked for",
            "{\"exitCode\":0,\"stdout\":\""
                + "QUFB".repeat((17 << 20) / 3)
                + "\",\"stderr\":\"\",\"durationMs\":1}",
            "longer than the limit"),
        of(
            "exec hangs",
            Operation.EXEC,
            "POST /exec",
            HANG,
            ErrorCode.OUTCOME_UNKNOWN,
            "no complete response"),
        of(
            "exec claims that nothing happened",
            Operation.EXEC,
            "POST /exec",
            problem("503 No", "PROVIDER_UNAVAILABLE", "try elsewhere"),
            ErrorCode.OUTCOME_UNKNOWN,
            "try elsewhere"),
        of(
            "exec closes the connection",
            Operation.EXEC,
            "POST /exec",
            (_, _) -> {},
            ErrorCode.OUTCOME_UNKNOWN,
            "exec at"),
        of(
            "a problem has control characters",
            Operation.EXEC,
            "POST /exec",
            problem("400 No", "INVALID_REQUEST", "\\u001b[31mred\\n\\u0000\\u202eevil"),
            ErrorCode.INVALID_REQUEST,
            "[31mred   evil"),
        of(
            "a problem has a megabyte of text",
            Operation.READ,
            "GET /files",
            problem("400 No", "INVALID_REQUEST", "x".repeat(1 << 20)),
            down,
            "read at"),
        of(
            "a file is longer than asked for",
            Operation.READ,
            "GET /files",
            answering("200 OK", "application/octet-stream", "123456"),
            down,
            "read at"),
        of("a file is JSON", Operation.READ, "GET /files", json("{}"), down, "content type"),
        of(
            "a write is not confirmed",
            Operation.WRITE,
            "PUT /files",
            (_, _) -> {},
            ErrorCode.OUTCOME_UNKNOWN,
            "write at"),
        list("an entry names a path", "../../etc", "file", "no valid name"),
        list("an entry has an unknown type", "a", "portal", "type of an entry"),
        of("a pause answers 200", Operation.PAUSE, "POST /pause", json("{}"), down, "status 200"),
        of(
            "a pause hangs",
            Operation.PAUSE,
            "POST /pause",
            HANG,
            ErrorCode.DEADLINE_EXCEEDED,
            "no complete response"),
        of(
            "usage is negative",
            Operation.USAGE,
            "GET /usage",
            json("{\"cpuMs\":-5}"),
            down,
            "cpuMs is not"),
        of(
            "a fork point has no id",
            Operation.FORK,
            "POST /fork-points",
            answering("201 OK", "application/json", "{\"frozenMs\":1}"),
            ErrorCode.OUTCOME_UNKNOWN,
            "id is missing"));
  }

  private static Case channel(String name, Lie lie, String part) {
    return new Case(
        name,
        Operation.CREATE,
        server ->
            server
                .info(
                    withField(
                        "level", "\"channel\",\"channel\":\"relay\",\"architecture\":\"x86_64\""))
                .on("GET /channel", lie)
                .on("GET /v1/sandboxes/[0-9a-z]+", problem("404 No", "SANDBOX_NOT_FOUND", "gone")),
        ErrorCode.PROVIDER_UNAVAILABLE,
        part);
  }

  static Stream<Case> channels() {
    String upgrade =
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: isola-channel\r\n\r\n";
    return Stream.of(
        channel("the channel is a document", json("{}"), "status 200 instead of 101"),
        channel(
            "101 without an upgrade",
            (_, out) -> out.write("HTTP/1.1 101 Sure\r\n\r\n".getBytes(ISO_8859_1)),
            "without the upgrade"),
        channel("the channel hangs", HANG, "no response within"),
        channel(
            "the channel drips its header",
            (request, out) -> drip(request, out, upgrade),
            "no response within"),
        channel(
            "the channel floods its header",
            (_, out) -> flood(out, "HTTP/1.1 101 X\r\n", "X: aaaaaaa\r\n"),
            "longer than"),
        channel("the channel redirects", answering("307 No", "text/html", ""), "status 307"),
        channel(
            "the agent says nothing",
            (request, out) -> {
              out.write(upgrade.getBytes(ISO_8859_1));
              out.flush();
              request.awaitHangUp();
            },
            "no response within"),
        channel("the channel has garbage", (_, out) -> flood(out, upgrade, "garbage! "), ""),
        channel(
            "the channel refuses the key",
            problem("401 No", "UNAUTHENTICATED", "wrong key"),
            "wrong key"));
  }

  static Stream<Case> all() {
    return Stream.of(transport(), documents(), operations(), channels()).flatMap(one -> one);
  }

  private Path data;
  private long descriptors;
  private long threads;

  @BeforeEach
  void count() throws IOException {
    data = Files.createTempDirectory("isola");
    warmUp();
    descriptors = sockets();
    threads = threads();
  }

  /** The JDK opens some descriptors at the first request, and keeps them. */
  private void warmUp() throws IOException {
    try (LyingServer server = new LyingServer();
        HttpProvider provider = provider(server)) {
      assertThat(provider.health().healthy()).isTrue();
    }
    awaitQuiet(Long.MAX_VALUE, Long.MAX_VALUE);
  }

  @AfterEach
  void remove() {
    TemporaryFolder.remove(data);
  }

  private HttpProvider provider(LyingServer server) {
    return provider(server, TIMEOUT);
  }

  private HttpProvider provider(LyingServer server, Duration timeout) {
    return new HttpProvider(
        HttpSettings.of(new ProviderConfig(Map.of("url", server.url(), "key", SECRET))),
        new ProviderContext(new InstanceId("test"), data, InstantSource.system()),
        timeout);
  }

  @ParameterizedTest
  @MethodSource("all")
  void misbehaviourIsAClearError(Case lie) throws IOException {
    try (LyingServer server = new LyingServer();
        HttpProvider provider =
            provider(lie.plan().apply(server), lie.isLong() ? Duration.ofMinutes(1) : TIMEOUT)) {
      if (lie.operation() == Operation.HEALTH) {
        assertThat(provider.health())
            .isInstanceOfSatisfying(
                Health.Unhealthy.class,
                health -> {
                  assertThat(health.reason()).contains(lie.part());
                  assertThat(health.fix()).isNotBlank();
                });
        assertThat(provider.info().capabilities()).isEmpty();
      } else {
        SandboxException e =
            catchThrowableOfType(
                SandboxException.class, () -> lie.operation().action.accept(provider));
        assertThat(e).as("the error").isNotNull();
        assertThat(e.code()).as(e.toString()).isEqualTo(lie.code());
        assertThat(e.getMessage())
            .contains(lie.part())
            .doesNotContain(SECRET)
            .hasSizeLessThan(1500);
        assertThat(String.valueOf(e.getMessage()).chars()).noneMatch(Character::isISOControl);
        assertThat(e.fault().remedy()).isNotBlank();
      }
    }
    awaitQuiet(descriptors, threads);
  }

  @Test
  void aLeakedSocketIsFound() throws IOException {
    try (java.net.ServerSocket leaked = new java.net.ServerSocket(0)) {
      assertThat(leaked.isBound()).isTrue();
      org.assertj.core.api.Assertions.assertThatThrownBy(() -> awaitQuiet(descriptors, threads))
          .isInstanceOf(ConditionTimeoutException.class)
          .hasMessageContaining("sockets");
    }
  }

  @Test
  void sandboxesOfOthersAreNotListed() throws IOException {
    String item =
        "{\"id\":\"%s\",\"instance\":\"%s\",\"sandbox\":\"%s\",\"state\":\"running\","
            + "\"createdAt\":\"2026-01-01T00:00:00Z\"}";
    String own = new BackendIds(new InstanceId("test")).of(ID);
    String page =
        String.join(
            ",",
            item.formatted(own, "test", "box"),
            item.formatted(own, "other", "box"),
            item.formatted("isola0123", "test", "box"),
            item.formatted(own, "test", "another"),
            item.formatted(own, "test", "../../etc"));
    try (LyingServer server =
            new LyingServer().on("GET /v1/sandboxes", json("{\"sandboxes\":[" + page + "]}"));
        HttpProvider provider = provider(server)) {
      assertThat(provider.inventory()).extracting(one -> one.id()).containsExactly(ID);
    }
  }

  @Test
  void theKeyIsNotSentToAnotherHost() throws IOException {
    try (LyingServer other = new LyingServer();
        LyingServer server =
            new LyingServer()
                .on(
                    "GET .*",
                    (_, out) ->
                        out.write(
                            ("HTTP/1.1 302 Found\r\nLocation: "
                                    + other.url()
                                    + "/v1/info\r\nContent-Length: 0\r\n\r\n")
                                .getBytes(ISO_8859_1)));
        HttpProvider provider = provider(server)) {
      assertThat(provider.health().usable()).isFalse();
      assertThat(server.received).isNotEmpty();
      assertThat(server.received.getFirst().headers())
          .containsEntry("authorization", "Bearer " + SECRET)
          .containsEntry("isola-timeout-ms", Long.toString(TIMEOUT.toMillis()));
      assertThat(other.received).isEmpty();
    }
  }

  @Test
  void aFailedProbeDoesNotChangeTheDeclaration() throws IOException {
    try (LyingServer server = new LyingServer();
        HttpProvider provider = provider(server)) {
      assertThat(provider.health().healthy()).isTrue();
      var declared = provider.info();
      server.info("{}");
      assertThat(provider.health().usable()).isFalse();
      assertThat(provider.info()).isEqualTo(declared);
    }
  }

  @Test
  void aCreateIsRepeatedOnceAndAnExecNever() throws IOException {
    try (LyingServer server =
            new LyingServer().on("PUT .*", (_, _) -> {}).on("POST /exec", (_, _) -> {});
        HttpProvider provider = provider(server)) {
      org.assertj.core.api.Assertions.assertThatThrownBy(() -> provider.create(spec()));
      assertThat(server.received).filteredOn(one -> one.line().startsWith("PUT")).hasSize(2);
      server.received.clear();
      server.on(
          "PUT .*",
          (request, out) ->
              out.write(
                  LyingServer.response(
                      "201 Created", "application/json", LyingServer.sandbox(request, ""))));
      Sandbox sandbox = provider.create(spec());
      org.assertj.core.api.Assertions.assertThatThrownBy(() -> sandbox.run(command()));
      assertThat(server.received).filteredOn(one -> one.line().contains("/exec")).hasSize(1);
    }
  }

  /** Waits until the JVM has no more sockets and threads of a client than before. */
  private static void awaitQuiet(long mostSockets, long mostThreads) {
    await()
        .atMost(Duration.ofSeconds(3))
        .pollInSameThread()
        .pollInterval(Duration.ofMillis(5))
        .untilAsserted(
            () -> {
              assertThat(sockets())
                  .as("sockets and other descriptors")
                  .isLessThanOrEqualTo(mostSockets);
              assertThat(threads()).as("threads").isLessThanOrEqualTo(mostThreads);
            });
  }

  private static long sockets() {
    java.io.File[] all = new java.io.File("/proc/self/fd").listFiles();
    return all == null ? 0 : all.length;
  }

  /** Virtual threads of the client block platform threads only in a selector of the JDK. */
  private static long threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("HttpClient"))
        .count();
  }
}
