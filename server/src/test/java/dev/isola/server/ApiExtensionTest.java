package dev.isola.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.server.auth.ApiKey;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.HostOriginFilter;
import dev.isola.server.auth.PortCredentials;
import dev.isola.server.auth.Scope;
import dev.isola.server.error.ErrorStatus;
import dev.isola.server.route.ApiDialect;
import dev.isola.server.route.ApiExtension;
import dev.isola.server.route.Route;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.Fault;
import dev.isola.testing.provider.TestProviderFactory;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An API extension plugs into the server and gets the same guards as the native API. */
class ApiExtensionTest {
  private static final String KEY = "X-Sample-Key";
  private static final String SANDBOX = "X-Sample-Sandbox";
  private static final int PORT = 4000;

  /** Uses a header of its own for keys; errors contain only the code. */
  private record SampleDialect() implements ApiDialect {
    @Override
    public boolean isNative() {
      return false;
    }

    @Override
    public List<String> secrets(Function<String, List<String>> headers) {
      return headers.apply(KEY);
    }

    @Override
    public Optional<ApiKey> key(String secret, Optional<SandboxId> sandbox, ApiKeys keys) {
      return keys.find(secret);
    }

    @Override
    public ErrorResponse error(Fault fault, String requestId, Optional<SandboxId> sandbox) {
      return new ErrorResponse(
          ErrorStatus.of(fault.code()),
          "application/sample+json",
          Map.of("sample", fault.code().name()));
    }
  }

  private record SampleApi() implements ApiExtension {
    @Override
    public List<Route> routes() {
      return List.of(
          Route.of("GET", "/sample", "sample", "Answers.")
              .needs(Scope.USE)
              .of(new SampleDialect())
              .handledBy(
                  exchange ->
                      exchange.json(200, Map.of("key", exchange.key().orElseThrow().name()))),
          Route.of("GET", "/inside/{id}/{what}", "sampleInside", "Answers for a port.")
              .needs(Scope.USE)
              .of(new SampleDialect())
              .handledBy(
                  exchange ->
                      exchange.json(
                          200,
                          Map.of(
                              "id", exchange.sandbox().value(), "what", exchange.path("what")))));
    }

    @Override
    public Optional<ApiDialect> dialect(
        Function<String, List<String>> headers, Optional<HostOriginFilter.PreviewTarget> target) {
      return headers.apply(KEY).isEmpty() ? Optional.empty() : Optional.of(new SampleDialect());
    }

    @Override
    public Optional<PortName> port(Function<String, List<String>> headers) {
      return headers.apply(SANDBOX).stream()
          .findFirst()
          .map(id -> new PortName(id, Integer.toString(PORT)));
    }

    @Override
    public Set<String> idSuffixes() {
      return Set.of("-sample");
    }

    @Override
    public Optional<String> path(HostOriginFilter.PreviewTarget target, String path) {
      return target.port() == PORT
          ? Optional.of("/inside/" + target.sandbox() + path)
          : Optional.empty();
    }

    @Override
    public PortCredentials portCredentials() {
      return PortCredentials.NONE;
    }
  }

  @TempDir Path folder;
  private TestServer testServer;

  @BeforeEach
  void open() {
    testServer =
        new TestServer(
            folder,
            Duration.ofSeconds(30),
            new TestProviderFactory(),
            context -> HttpServerOptions.NONE,
            Map.of(),
            (context, keys, stored) -> List.of(new SampleApi()));
  }

  @AfterEach
  void close() {
    testServer.close();
  }

  private TestClient.Response get(String path, Map<String, String> headers) throws IOException {
    return testServer.client("").send("GET", path, headers, new byte[0]);
  }

  @Test
  void extensionRouteUsesItsDialectForKeysAndErrors() throws IOException {
    assertThat(get("/sample", Map.of(KEY, testServer.use)).field("key")).isEqualTo("use");
    TestClient.Response none = get("/sample", Map.of());
    assertThat(none.status()).isEqualTo(401);
    assertThat(none.type()).isEqualTo("application/sample+json");
    assertThat(none.json()).isEqualTo(Map.of("sample", "UNAUTHENTICATED"));
    assertThat(get("/sample", Map.of(KEY, testServer.read)).json())
        .isEqualTo(Map.of("sample", "FORBIDDEN"));
    assertThat(testServer.client(testServer.use).get("/sample").status())
        .as("this dialect does not accept bearer tokens")
        .isEqualTo(401);
  }

  @Test
  void errorBeforeRoutingUsesTheDialectOfTheRequest() throws IOException {
    assertThat(get("/nowhere", Map.of(KEY, testServer.use)).json())
        .isEqualTo(Map.of("sample", "ROUTE_NOT_FOUND"));
    assertThat(get("/nowhere", Map.of()).field("code")).isEqualTo("ROUTE_NOT_FOUND");
  }

  @Test
  void portHandledByAnExtensionUsesItsRouteAndGuards() throws IOException {
    String host = PORT + "-abc.localhost:" + testServer.server.port();
    for (Map<String, String> named : List.of(Map.of("Host", host), Map.of(SANDBOX, "abc"))) {
      Map<String, String> headers = new HashMap<>(named);
      assertThat(get("/hello", headers).status()).isEqualTo(401);
      headers.put(KEY, testServer.use);
      assertThat(get("/hello", headers).json()).isEqualTo(Map.of("id", "abc", "what", "hello"));
      headers.put("Origin", "http://evil.example");
      assertThat(get("/hello", headers).status()).as("cross-origin").isEqualTo(403);
    }
  }

  @Test
  void hostWithASuffixThatNoExtensionListsIsUnknown() throws IOException {
    Map<String, String> headers = new HashMap<>(Map.of(KEY, testServer.use));
    headers.put("Host", PORT + "-abc-sample.localhost");
    assertThat(get("/hello", headers).json()).isEqualTo(Map.of("id", "abc", "what", "hello"));
    for (String name : List.of("abc-other", "abc-sample-sample", "abc-", "-sample")) {
      headers.put("Host", PORT + "-" + name + ".localhost");
      assertThat(get("/hello", headers).status()).as(name).isEqualTo(403);
    }
  }

  @Test
  void openApiDocumentDescribesTheNativeApiOnly() throws IOException {
    assertThat(testServer.client("").get("/api/v1/openapi.json").text())
        .contains("/api/v1/sandboxes")
        .doesNotContain("/sample", "/inside");
  }
}
