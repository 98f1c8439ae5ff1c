package dev.isola.provider.e2b;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.InstanceId;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.Category;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Failures of the E2B service. */
class E2bFailureTest {
  private static final String KEY = "e2b_5ec4e700";
  private static final SandboxId ID = new SandboxId("one");

  @TempDir Path data;
  private FakeE2b server;
  private Provider provider;

  @BeforeEach
  void open() throws IOException {
    server = new FakeE2b();
    provider = provider(Map.of("api_key", KEY));
  }

  private Provider provider(Map<String, String> more) {
    return provider(more, server.url());
  }

  private Provider provider(Map<String, String> more, String url) {
    Map<String, String> settings = new java.util.HashMap<>(more);
    settings.put("api_url", url);
    settings.put("sandbox_url", url);
    return new E2bProvider(
        E2bProviderSettings.of(new ProviderConfig(settings), name -> ""),
        new ProviderContext(new InstanceId("here"), data, InstantSource.system()));
  }

  @AfterEach
  void close() throws IOException {
    provider.close();
    server.close();
  }

  private static SandboxSpec spec(Duration startup) {
    return SandboxSpec.builder(ID).deadline(Duration.ofMinutes(5)).startupTimeout(startup).build();
  }

  private static SandboxException failure(ThrowingCallable call) {
    SandboxException failure = catchThrowableOfType(SandboxException.class, call);
    assertThat(failure).isNotNull();
    assertThat(failure + failure.context().toString()).doesNotContain(KEY);
    return failure;
  }

  private SandboxException createFails() {
    return failure(() -> provider.create(spec(Duration.ofSeconds(20))));
  }

  @Test
  void rejectedKeyMakesTheProviderUnavailable() {
    server.next("POST /v2", FakeE2b.answers(401, "{\"code\":401,\"message\":\"no " + KEY + "\"}"));
    SandboxException e = createFails();
    assertThat(e.code()).isEqualTo(ErrorCode.PROVIDER_UNAVAILABLE);
    assertThat(e.fault().remedy()).contains("E2B_API_KEY");
    server.next("GET /v2", FakeE2b.answers(401, "{}"));
    assertThat(provider.health()).isInstanceOf(Health.Unhealthy.class);
    assertThat(provider.health()).isInstanceOf(Health.Healthy.class);
    assertThat(server.requests.getFirst().headers()).containsEntry("x-api-key", KEY);
  }

  @Test
  void noRequestIsSentWithoutAKey() {
    try (Provider keyless = provider(Map.of())) {
      assertThat(keyless.health()).isInstanceOf(Health.Unhealthy.class);
      assertThat(keyless.info().prerequisites().getFirst().present()).isFalse();
      assertThat(failure(() -> keyless.create(spec(Duration.ofSeconds(5)))).code())
          .isEqualTo(ErrorCode.PROVIDER_UNAVAILABLE);
      assertThat(server.requests).isEmpty();
    }
  }

  @Test
  void unknownTemplateIsReported() {
    server.next("POST /v2", FakeE2b.answers(404, "{\"code\":404,\"message\":\"no template\"}"));
    SandboxException e = createFails();
    assertThat(e.code()).isEqualTo(ErrorCode.IMAGE_NOT_FOUND);
    assertThat(e.getMessage()).contains("base");
  }

  @Test
  void shortRateLimitIsWaitedFor() {
    server.next("GET /v2", FakeE2b.answers(429, "{}", "Retry-After: 1"));
    assertThat(provider.inventory()).isEmpty();
    assertThat(server.count("GET /v2/sandboxes")).isEqualTo(2);
  }

  @Test
  void longRateLimitIsReported() {
    server.next("POST /v2", FakeE2b.answers(429, "{\"message\":\"slowly\"}", "Retry-After: 3600"));
    SandboxException e = createFails();
    assertThat(e.code()).isEqualTo(ErrorCode.RATE_LIMITED);
    assertThat(e.context()).containsEntry("retryAfter", "3600");
    assertThat(server.count("POST /v2/sandboxes")).isEqualTo(1);
  }

  @Test
  void serverErrorOfAMutationIsAnUnknownOutcome() {
    server.next("POST /v2", FakeE2b.answers(500, "{\"message\":\"oh\"}"));
    server.next("GET /v2", FakeE2b.answers(200, "[]"));
    server.next("GET /v2", FakeE2b.answers(500, "{\"message\":\"oh\"}"));
    assertThat(createFails().code())
        .as("the outcome cannot be determined")
        .isEqualTo(ErrorCode.OUTCOME_UNKNOWN);
    server.next("GET /v2", FakeE2b.answers(500, "{\"message\":\"oh\"}"));
    assertThat(failure(() -> provider.inventory()).code())
        .isEqualTo(ErrorCode.PROVIDER_UNAVAILABLE);
    assertThat(server.count("POST /v2/sandboxes")).isEqualTo(1);
  }

  @Test
  void unlistedSandboxAfterAServerErrorWasNotCreated() {
    server.next("POST /v2", FakeE2b.answers(500, "{\"message\":\"oh\"}"));
    SandboxException e = createFails();
    assertThat(e.code())
        .as("retryable with another provider")
        .isEqualTo(ErrorCode.PROVIDER_UNAVAILABLE);
    assertThat(e.getMessage()).contains("500 oh", "does not list the sandbox");
    assertThat(server.count("POST /v2/sandboxes")).isEqualTo(1);
  }

  @Test
  void listedSandboxAfterAServerErrorIsUsed() {
    server.next("POST /v2", FakeE2b.performsAndAnswers(500, "{\"message\":\"oh\"}"));
    assertThat(sandbox().id()).isEqualTo(ID);
    assertThat(server.count("POST /v2/sandboxes")).isEqualTo(1);
    assertThat(provider.inventory()).extracting(InventoryItem::id).containsExactly(ID);
  }

  @Test
  void accountWithoutCreditIsAResourceLimit() {
    server.next("POST /v2", FakeE2b.answers(402, "{\"message\":\"pay first\"}"));
    SandboxException e = createFails();
    assertThat(e.code()).isEqualTo(ErrorCode.RESOURCE_LIMIT);
    assertThat(e.category()).isEqualTo(Category.RESOURCE);
  }

  @Test
  void missingTtlGetsTheDefaultOfE2b() {
    server.next("POST /process", FakeE2b.streams(STARTED, ENDED, ""));
    provider.create(SandboxSpec.builder(ID).build());
    assertThat(
            server.requests.stream()
                .filter(request -> request.line().startsWith("POST /v2/sandboxes"))
                .findFirst()
                .orElseThrow()
                .text())
        .contains("\"timeout\":300");
  }

  @Test
  void excessiveTtlIsRefusedWithTheMaximum() {
    server.next(
        "POST /v2",
        FakeE2b.answers(
            400, "{\"code\":400,\"message\":\"Timeout cannot be greater than 1 hours\"}"));
    SandboxException e = createFails();
    assertThat(e.code()).isEqualTo(ErrorCode.INVALID_SPEC);
    assertThat(e.context()).containsEntry(Provider.MAX_TTL_SECONDS, "3600");
  }

  @Test
  void malformedResponseIsRejected() {
    server.next("POST /v2", FakeE2b.answers(201, "<html>hello</html>"));
    assertThat(createFails().code()).isEqualTo(ErrorCode.OUTCOME_UNKNOWN);
    server.next("POST /v2", FakeE2b.answers(201, "{\"sandboxID\":\"../../etc\"}"));
    assertThat(createFails().code()).isEqualTo(ErrorCode.OUTCOME_UNKNOWN);
    server.next("GET /v2", FakeE2b.answers(200, "[[[["));
    assertThat(failure(() -> provider.inventory()).code())
        .isEqualTo(ErrorCode.PROVIDER_UNAVAILABLE);
    server.next("GET /v2", FakeE2b.answers(200, "{}"));
    assertThat(failure(() -> provider.inventory()).code())
        .isEqualTo(ErrorCode.PROVIDER_UNAVAILABLE);
  }

  @Test
  void sandboxesOfOtherInstancesAreIgnored() {
    server.next(
        "GET /v2",
        FakeE2b.answers(
            200,
            "[{\"sandboxID\":\"a\",\"metadata\":{\"isola-instance\":\"else\",\"isola-sandbox\":\"x\"}},"
                + "{\"sandboxID\":\"b\"},{\"sandboxID\":\"c\",\"metadata\":{\"isola-instance\":\"here\","
                + "\"isola-sandbox\":\"ours\"}}]"));
    assertThat(provider.inventory())
        .extracting(InventoryItem::id)
        .containsExactly(new SandboxId("ours"));
  }

  @Test
  void silentServerTimesOut() {
    server.next("POST /v2", FakeE2b.hangs());
    SandboxException e = failure(() -> provider.create(spec(Duration.ofMillis(300))));
    assertThat(e.code()).isEqualTo(ErrorCode.OUTCOME_UNKNOWN);
    assertThat(server.count("POST /v2/sandboxes")).isEqualTo(1);
  }

  @Test
  void unacknowledgedSandboxIsFoundAndDestroyed() {
    server.next("POST /v2", FakeE2b.performsAndDisconnects());
    assertThat(createFails().code()).isEqualTo(ErrorCode.OUTCOME_UNKNOWN);
    assertThat(server.count("POST /v2/sandboxes")).as("the request was not repeated").isEqualTo(1);
    assertThat(server.alive()).isEqualTo(1);
    assertThat(provider.inventory()).extracting(InventoryItem::id).containsExactly(ID);
    provider.destroy(ID, DestroyOptions.NORMAL);
    assertThat(server.alive()).isZero();
    provider.destroy(ID, DestroyOptions.NORMAL);
  }

  @Test
  void sandboxWithFailedSetupIsDestroyed() {
    server.next("POST /process", FakeE2b.answers(503, "{}"));
    assertThat(createFails().category().name()).isEqualTo("PROVIDER");
    assertThat(server.alive()).isZero();
  }

  @Test
  void unreachableServerIsUnavailable() throws IOException {
    try (Socket unanswered = new Socket()) {
      // The port of a closed server may belong to another test at once; a bound port may not.
      unanswered.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      String url = "http://127.0.0.1:" + unanswered.getLocalPort();
      provider.close();
      provider = provider(Map.of("api_key", KEY), url);
      assertThat(createFails().code()).isEqualTo(ErrorCode.PROVIDER_UNAVAILABLE);
      assertThat(provider.health()).isInstanceOf(Health.Unhealthy.class);
    }
  }

  private static final String STARTED = "{\"event\":{\"start\":{\"pid\":7}}}";
  private static final String ENDED =
      "{\"event\":{\"end\":{\"exited\":true,\"status\":\"exit status 0\"}}}";

  private Sandbox sandbox() {
    server.next("POST /process", FakeE2b.streams(STARTED, ENDED, ""));
    return provider.create(spec(Duration.ofSeconds(20)));
  }

  /** Sends the confirmation that the start script prints. */
  private static FakeE2b.Behavior runs(String... more) {
    return (server, request, socket) -> {
      var mark = java.util.regex.Pattern.compile("\"isola\",\"([0-9a-f]{32})\"");
      var found = mark.matcher(request.text());
      assertThat(found.find()).isTrue();
      String[] all = new String[more.length + 2];
      all[0] = STARTED;
      all[1] = data("stderr", found.group(1) + ".");
      System.arraycopy(more, 0, all, 2, more.length);
      FakeE2b.streams(all).play(server, request, socket);
    };
  }

  private static String data(String channel, String text) {
    return "{\"event\":{\"data\":{\""
        + channel
        + "\":\""
        + java.util.Base64.getEncoder()
            .encodeToString(text.getBytes(java.nio.charset.StandardCharsets.UTF_8))
        + "\"}}}";
  }

  @Test
  void earlyOutputIsNotLost() {
    Sandbox sandbox = sandbox();
    server.next("POST /process", runs(data("stdout", "hello"), ENDED, ""));
    assertThat(sandbox.run(Command.argv("x")).stdout().text()).isEqualTo("hello");
  }

  @Test
  void truncatedStreamIsAnUnknownOutcome() {
    Sandbox sandbox = sandbox();
    server.next("POST /process", runs(data("stdout", "half")));
    try (Execution execution = sandbox.start(Command.argv("x"))) {
      assertThat(execution.read()).isPresent();
      assertThat(failure(execution::read).code()).isEqualTo(ErrorCode.OUTCOME_UNKNOWN);
      assertThat(failure(execution::await).code()).isEqualTo(ErrorCode.OUTCOME_UNKNOWN);
    }
    assertThat(server.count("POST /process.Process/Start"))
        .as("the command was not started again")
        .isEqualTo(2);
  }

  @Test
  void oversizedMessageIsRejected() {
    Sandbox sandbox = sandbox();
    server.next(
        "POST /process",
        (all, request, socket) -> {
          socket
              .getOutputStream()
              .write(
                  "HTTP/1.1 200 OK\r\n\r\n\0\177\177\177\177"
                      .getBytes(java.nio.charset.StandardCharsets.ISO_8859_1));
          socket.close();
        });
    assertThat(failure(() -> sandbox.start(Command.argv("x"))).code())
        .isEqualTo(ErrorCode.OUTCOME_UNKNOWN);
  }

  @Test
  void sandboxThatEndsDuringACallIsGone() {
    Sandbox sandbox = sandbox();
    provider.inventory().forEach(one -> server.next("GET /sandboxes/", FakeE2b.answers(404, "{}")));
    server.next("POST /process", FakeE2b.answers(502, "{\"code\":502,\"message\":\"no sandbox\"}"));
    assertThat(failure(() -> sandbox.run(Command.argv("x"))).code())
        .isEqualTo(ErrorCode.SANDBOX_DESTROYED);
    assertThat(failure(() -> sandbox.files().stat("x", NOFOLLOW_LINKS)).code())
        .isEqualTo(ErrorCode.SANDBOX_DESTROYED);
  }
}
