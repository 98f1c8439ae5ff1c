package dev.isola.provider.docker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.codec.http.HttpRequest;
import dev.isola.codec.time.Deadline;
import dev.isola.conformance.TemporaryFolder;
import dev.isola.provider.docker.http.EngineHttp;
import dev.isola.provider.docker.http.EngineResponse;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.DeadlineExceeded;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.LimitExceeded;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.OutcomeUnknown;
import dev.isola.spi.error.ProviderUnavailable;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Engines that are down, hang, refuse, are full or are no engine: each is reported specifically and
 * in time.
 */
@Timeout(60)
class BrokenEngineTest {
  private static final Deadline SOON = Deadline.in(Duration.ofHours(1));
  private static final Duration SHORT = Duration.ofMillis(300);

  private static final String VERSION =
      "{\"Version\": \"29.0.0\", \"Components\": [{\"Name\": \"Engine\", \"Version\":"
          + " \"29.0.0\"}]}";
  private static final String INFO =
      "{\"MemoryLimit\": true, \"PidsLimit\": true, \"CpuCfsQuota\": true, \"KernelVersion\":"
          + " \"6\", \"Runtimes\": {\"runc\": {}}}";
  private static final String IMAGE = "{\"Id\": \"sha256:0123\", \"Config\": {}}";

  /** Returns the script of a working engine, except for what {@code instead} answers. */
  private static Function<String, String> working(Function<String, String> instead) {
    return line -> {
      String special = instead.apply(line);
      if (!special.isEmpty()) {
        return special;
      }
      String path = line.split(" ")[1];
      if (path.equals("/version")) {
        return StubEngine.response(200, VERSION);
      } else if (path.equals("/info")) {
        return StubEngine.response(200, INFO);
      } else if (path.startsWith("/images/")) {
        return StubEngine.response(200, IMAGE);
      } else if (path.startsWith("/containers/json")) {
        return StubEngine.response(200, "[]");
      }
      return StubEngine.response(500, "{\"message\": \"not in the script\"}");
    };
  }

  private static String when(String line, String start, String response) {
    return line.startsWith(start) ? response : "";
  }

  private interface Use {
    void of(Provider provider, StubEngine stub) throws Exception;
  }

  private static void with(Function<String, String> script, Use use) throws Exception {
    try (StubEngine stub = new StubEngine(script);
        TemporaryFolder data = TemporaryFolder.create("isola-data-");
        Provider provider =
            new DockerProviderFactory()
                .create(
                    new ProviderConfig(Map.of("host", stub.host())),
                    new ProviderContext(
                        new InstanceId("broken"), data.path(), InstantSource.system()))) {
      use.of(provider, stub);
    }
  }

  private static SandboxSpec spec(Duration timeout) {
    return SandboxSpec.builder(new SandboxId("abc")).startupTimeout(timeout).build();
  }

  private static EngineHttp client(StubEngine stub) {
    return new EngineHttp(stub.address());
  }

  @Test
  void missingEngineIsUnreachableWithARemedy() throws Exception {
    try (TemporaryFolder data = TemporaryFolder.create("isola-data-");
        Provider provider =
            new DockerProviderFactory()
                .create(
                    new ProviderConfig(Map.of("host", "unix:///nowhere/docker.sock")),
                    new ProviderContext(
                        new InstanceId("broken"), data.path(), InstantSource.system()))) {
      assertThat(provider.health())
          .isInstanceOfSatisfying(
              Health.Unhealthy.class,
              ill -> {
                assertThat(ill.reason()).contains("/nowhere/docker.sock");
                assertThat(ill.fix()).contains("DOCKER_HOST");
              });
      assertThatThrownBy(() -> provider.create(spec(SHORT)))
          .isInstanceOf(ProviderUnavailable.class);
      // An unreachable engine does not mean that there are no sandboxes.
      assertThatThrownBy(() -> provider.attach(new SandboxId("abc")))
          .isInstanceOf(ProviderUnavailable.class);
      assertThatThrownBy(provider::inventory).isInstanceOf(ProviderUnavailable.class);
      assertThat(provider.info().prerequisites())
          .anyMatch(need -> need.necessary() && !need.present() && !need.fix().isEmpty());
    }
  }

  @Test
  void silentEngineTimesOut() throws Exception {
    try (StubEngine stub = new StubEngine(line -> StubEngine.SILENCE);
        EngineHttp http = client(stub)) {
      assertThatThrownBy(() -> http.send(HttpRequest.get("/version"), Deadline.in(SHORT)))
          .isInstanceOf(ProviderUnavailable.class)
          .hasMessageContaining("within 300 ms");
      assertThatThrownBy(
              () -> http.send(HttpRequest.post("/containers/create"), Deadline.in(SHORT)))
          .isInstanceOf(OutcomeUnknown.class);
      assertThat(stub.asked()).as("no request is sent twice").hasSize(2);
    }
  }

  @Test
  void stalledResponseTimesOut() throws Exception {
    String half = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf";
    try (StubEngine stub = new StubEngine(line -> half);
        EngineHttp http = client(stub)) {
      assertThatThrownBy(() -> http.send(HttpRequest.get("/info"), Deadline.in(SHORT)))
          .isInstanceOf(ProviderUnavailable.class)
          .hasMessageContaining("within 300 ms");
    }
  }

  @Test
  void nonHttpServiceIsRejected() throws Exception {
    for (String garbage :
        new String[] {
          "SSH-2.0-OpenSSH\r\n",
          "HTTP/1.1 abc\r\n\r\n",
          "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
          "HTTP/1.1 200 OK\r\n" + "x".repeat(10_000),
          "HTTP/1.1 200 OK\r\n" + "a: b\r\n".repeat(200) + "\r\n"
        }) {
      try (StubEngine stub = new StubEngine(line -> garbage);
          EngineHttp http = client(stub)) {
        assertThatThrownBy(() -> http.send(HttpRequest.get("/info"), SOON))
            .as(garbage)
            .isInstanceOf(ProviderUnavailable.class);
      }
    }
  }

  @Test
  void endlessResponseIsLimited() throws Exception {
    String chunk = "100000\r\n" + "x".repeat(1 << 20) + "\r\n";
    String endless = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk.repeat(20);
    try (StubEngine stub = new StubEngine(line -> endless);
        EngineHttp http = client(stub)) {
      assertThatThrownBy(() -> http.send(HttpRequest.get("/info"), SOON))
          .isInstanceOf(ProviderUnavailable.class)
          .hasMessageContaining("longer than");
    }
  }

  @Test
  void chunkedResponsesKeepTheConnection() throws Exception {
    String chunked =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n";
    try (StubEngine stub = new StubEngine(line -> chunked);
        EngineHttp http = client(stub)) {
      for (int i = 0; i < 3; i++) {
        EngineResponse response = http.send(HttpRequest.get("/info"), SOON);
        assertThat(response.text()).isEqualTo("abcde");
      }
    }
  }

  @Test
  void responseWithoutLengthEndsTheConnection() throws Exception {
    String whole = "HTTP/1.0 200 OK\r\n\r\nall there is" + StubEngine.CLOSE;
    try (StubEngine stub =
            new StubEngine(
                line -> line.contains("/last") ? whole : "HTTP/1.1 204 No Content\r\n\r\n");
        EngineHttp http = new EngineHttp(stub.address())) {
      assertThat(http.send(HttpRequest.get("/last"), SOON).text()).isEqualTo("all there is");
      assertThat(http.send(HttpRequest.get("/none"), SOON).text()).isEmpty();
      assertThat(http.send(HttpRequest.get("/none"), SOON).status()).isEqualTo(204);
    }
  }

  @Test
  void staleConnectionIsNotReused() throws Exception {
    String closing = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" + StubEngine.CLOSE;
    try (StubEngine stub =
            new StubEngine(
                line -> line.contains("/first") ? closing : StubEngine.response(200, "{}"));
        EngineHttp http = client(stub)) {
      http.send(HttpRequest.get("/first"), SOON);
      Awaitility.await().until(stub::hungUp);
      assertThat(http.send(HttpRequest.post("/second"), SOON).status()).isEqualTo(200);
    }
  }

  @Test
  void malformedResponseIsReportedAndCreatesNothing() throws Exception {
    with(
        working(line -> when(line, "GET /info", StubEngine.response(200, "<html>"))),
        (provider, stub) -> {
          assertThatThrownBy(() -> provider.create(spec(Duration.ofSeconds(5))))
              .isInstanceOf(ProviderUnavailable.class)
              .hasMessageContaining("not JSON");
          assertThat(stub.asked()).noneMatch(line -> line.startsWith("POST"));
          assertThat(provider.health().healthy()).isFalse();
        });
  }

  @Test
  void engineErrorMessageReachesTheCaller() throws Exception {
    with(
        working(
            line ->
                when(
                    line,
                    "POST /containers/create",
                    StubEngine.response(400, "{\"message\": \"invalid mount config\"}"))),
        (provider, stub) -> {
          assertThatThrownBy(() -> provider.create(spec(Duration.ofSeconds(5))))
              .hasMessageContaining("invalid mount config")
              .extracting(e -> ((SandboxException) e).code())
              .isEqualTo(ErrorCode.SPAWN_FAILED);
          assertThat(provider.inventory()).isEmpty();
        });
  }

  @Test
  void fullEngineDiskIsReportedAsDiskFull() throws Exception {
    with(
        working(
            line ->
                when(
                    line,
                    "POST /containers/create",
                    StubEngine.response(500, "{\"message\": \"mkdir: no space left on device\"}"))),
        (provider, stub) ->
            assertThatThrownBy(() -> provider.create(spec(Duration.ofSeconds(5))))
                .isInstanceOfSatisfying(
                    LimitExceeded.class,
                    full -> assertThat(full.code()).isEqualTo(ErrorCode.DISK_FULL)));
  }

  @Test
  @SuppressWarnings("StringConcatToTextBlock") // A text block has no carriage returns.
  void failedPullIsImageNotFound() throws Exception {
    String progress =
        "{\"status\":\"Pulling\"}\r\n"
            + "{\"errorDetail\":{\"message\":\"denied\"},\"error\":\"denied\"}\r\n";
    with(
        working(
            line ->
                when(line, "GET /images/", StubEngine.response(404, "{}"))
                    + when(line, "POST /images/create", StubEngine.response(200, progress))),
        (provider, stub) -> {
          SandboxSpec spec =
              spec(Duration.ofSeconds(5)).toBuilder().image("example.invalid/x").build();
          assertThatThrownBy(() -> provider.create(spec))
              .isInstanceOf(NotFound.class)
              .hasMessageContaining("denied");
          assertThat(stub.asked())
              .anyMatch(line -> line.contains("fromImage=example.invalid%2Fx%3Alatest"));
        });
  }

  @Test
  void slowPullReportsItsProgress() throws Exception {
    String progress =
        """
        HTTP/1.1 200 OK\r
        \r
        {"status":"Pull complete","id":"a1"}
        {"status":"Downloading","id":"b2"}
        """;
    with(
        working(
            line ->
                when(line, "GET /images/", StubEngine.response(404, "{}"))
                    + when(line, "POST /images/create", progress)),
        (provider, stub) ->
            assertThatThrownBy(
                    () -> provider.create(spec(SHORT).toBuilder().image("large").build()))
                .isInstanceOf(DeadlineExceeded.class)
                .hasMessageContaining("1 of the 2 reported layers"));
  }

  @Test
  void hangingCreateIsCleanedUpOrReportedAsUnknown() throws Exception {
    with(
        working(line -> when(line, "POST /containers/create", StubEngine.SILENCE)),
        (provider, stub) ->
            assertThatThrownBy(() -> provider.create(spec(SHORT)))
                .as("the engine was asked and has no such container")
                .isInstanceOf(DeadlineExceeded.class));
  }

  @Test
  void foreignContainerOfTheSameNameIsNotTouched() throws Exception {
    with(
        working(
            line ->
                when(
                    line,
                    "POST /containers/create",
                    StubEngine.response(409, "{\"message\": \"name is already in use\"}"))),
        (provider, stub) -> {
          assertThatThrownBy(() -> provider.create(spec(Duration.ofSeconds(5))))
              .isInstanceOf(Conflict.class);
          assertThat(stub.asked()).noneMatch(line -> line.startsWith("DELETE"));
          assertThat(provider.inventory()).isEmpty();
        });
  }

  @Test
  void foreignContainersAreIgnoredIfTheEngineIgnoresTheFilter() throws Exception {
    String foreign =
        "[{\"Id\": \"0123456789ab\", \"Names\": [\"/x\"], \"State\": \"running\", \"Created\": 1,"
            + " \"Labels\": {\"dev.isola.instance\": \"another\", \"dev.isola.sandbox\":"
            + " \"abc\"}}]";
    with(
        working(line -> when(line, "GET /containers/json", StubEngine.response(200, foreign))),
        (provider, stub) -> {
          assertThat(provider.inventory()).isEmpty();
          provider.destroy(new SandboxId("abc"), DestroyOptions.FORCE);
          assertThat(stub.asked()).noneMatch(line -> line.startsWith("DELETE"));
        });
  }

  @Test
  void kataAndGvisorReportTheMissingRuntime() throws IOException {
    try (StubEngine stub = new StubEngine(working(line -> ""));
        TemporaryFolder data = TemporaryFolder.create("isola-data-")) {
      for (ProviderFactory factory :
          List.of(new KataProviderFactory(), new DockerGvisorProviderFactory())) {
        try (Provider provider =
            factory.create(
                new ProviderConfig(Map.of("host", stub.host())),
                new ProviderContext(
                    new InstanceId("broken"), data.path(), InstantSource.system()))) {
          assertThat(provider.health())
              .isInstanceOfSatisfying(
                  Health.Unhealthy.class,
                  ill -> {
                    assertThat(ill.reason()).contains("has no runtime");
                    assertThat(ill.fix()).contains("daemon.json");
                  });
          assertThatThrownBy(() -> provider.create(spec(Duration.ofSeconds(5))))
              .isInstanceOf(ProviderUnavailable.class);
        }
      }
      assertThat(stub.asked()).noneMatch(line -> line.startsWith("POST"));
    }
  }
}
