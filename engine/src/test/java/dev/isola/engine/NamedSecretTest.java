package dev.isola.engine;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.isola.document.request.CreateRequest;
import dev.isola.document.request.ExpiryAction;
import dev.isola.document.request.Lifecycle;
import dev.isola.engine.api.CreateResult;
import dev.isola.engine.api.ForkKind;
import dev.isola.engine.api.ForkRequest;
import dev.isola.engine.api.ForkResult;
import dev.isola.engine.api.NamedSecret;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.SecretRequest;
import dev.isola.engine.api.secret.SecretService;
import dev.isola.engine.secret.BoundSecret;
import dev.isola.provider.bubblewrap.BubblewrapProviderFactory;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.Secret;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.spec.Egress;
import dev.isola.spi.spec.EgressAction;
import dev.isola.spi.spec.EgressRule;
import dev.isola.spi.spec.HttpRule;
import dev.isola.spi.spec.Network;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Named secrets: stored encrypted, never returned, and a placeholder in the sandbox. */
class NamedSecretTest {
  private static final String VALUE = "sk-planted4Value7WithEnough9Room";
  private static final Duration IDLE = Duration.ofMinutes(10);
  private static final long MAX_SEARCHED = 64 << 20;
  private static final SecureRandom RANDOM = new SecureRandom();

  @TempDir Path folder;

  private EngineFixture fixture() throws IOException {
    EngineFixture fixture = new EngineFixture(folder, "", new BubblewrapProviderFactory());
    assumeTrue(
        fixture
            .registry
            .get("bubblewrap")
            .info()
            .support()
            .networkModes()
            .contains(NetworkMode.FILTERED),
        "NOT RUN: bubblewrap does not filter networks here");
    return fixture;
  }

  private static SecretRequest request(String name, String value, String... keys) {
    return new SecretRequest(name, Secret.of(value), List.of("api.example.com"), List.of(keys));
  }

  private static SandboxRequest using(Map<String, String> secrets) {
    return using(
        new Egress(
            Optional.empty(), List.of(), List.of(), secrets, List.of(), false, Egress.Limits.NONE));
  }

  private static SandboxRequest using(Egress egress) {
    SandboxSpec spec =
        SandboxSpec.builder(SandboxId.random(RANDOM))
            .env("PLAIN", "shown")
            .network(Network.filtered(egress))
            .build();
    return SandboxRequest.of(
        CreateRequest.of(spec, "bubblewrap")
            .with(Lifecycle.DEFAULT.withWhenIdle(ExpiryAction.SNAPSHOT).withIdleTimeout(IDLE)));
  }

  private static String variable(Sandbox sandbox) {
    return sandbox.run(Command.shell("printf %s \"$API_KEY\"")).stdout().text();
  }

  /** Returns the files of the installation that contain a text. */
  private List<Path> containing(String text) throws IOException {
    // Without the disks of sandboxes, which are large and have holes.
    try (Stream<Path> files =
        Files.find(folder, 50, (_, one) -> one.isRegularFile() && one.size() < MAX_SEARCHED)) {
      return files.filter(file -> contains(file, text)).toList();
    }
  }

  private static boolean contains(Path file, String text) {
    try {
      return new String(Files.readAllBytes(file), ISO_8859_1).contains(text);
    } catch (IOException e) {
      return false; // it is destroyed
    }
  }

  @Test
  void valueIsFoundNowhereButInWhatTheRelayGets() throws IOException {
    try (EngineFixture fixture = fixture()) {
      SecretService secrets = fixture.engine.secrets();
      NamedSecret made = secrets.put(request("github", VALUE));
      assertThat(made.placeholder()).startsWith("sk-").hasSameSizeAs(VALUE).isNotEqualTo(VALUE);
      CreateResult result = fixture.engine.creator().create(using(Map.of("API_KEY", "github")));
      assertThat(variable(result.sandbox())).isEqualTo(made.placeholder());
      assertThat(result.view().spec())
          .contains("github")
          .doesNotContain(VALUE)
          .doesNotContain(made.placeholder());
      assertThat(
              List.of(
                  made, secrets.list(), secrets.get("github"), secrets.bound(List.of("github"))))
          .allSatisfy(one -> assertThat(one.toString()).doesNotContain(VALUE));
      assertThat(fixture.ledger.events().after(0, 100).toString()).doesNotContain(VALUE);
      assertThat(containing(VALUE)).isEmpty();
      assertThat(containing("v1:")).as("the search sees the ledger").isNotEmpty();
      BoundSecret bound = secrets.bound(List.of("github", "absent")).getFirst();
      assertThat(bound.value()).isEqualTo(Secret.of(VALUE));
      assertThat(bound.secret().hosts()).containsExactly("api.example.com");
    }
  }

  @Test
  void placeholderSurvivesSuspensionARestartAndForks() throws IOException {
    try (EngineFixture fixture = fixture()) {
      String placeholder = fixture.engine.secrets().put(request("github", VALUE)).placeholder();
      SandboxId id =
          fixture.engine.creator().create(using(Map.of("API_KEY", "github"))).view().id();
      ForkResult fork = fixture.engine.forks().fork(id, ForkRequest.of(1)).getFirst();
      assertThat(fork).isInstanceOf(ForkResult.Created.class);
      SandboxId forked = ((ForkResult.Created) fork).view().id();
      assertThat(variable(fixture.engine.sandboxes().get(forked))).isEqualTo(placeholder);
      fixture.clock.pass(IDLE.plusSeconds(1));
      await().until(() -> fixture.engine.sandboxes().view(id).state() == SandboxState.STOPPED);
      fixture.restart(() -> {});
      assertThat(variable(fixture.engine.sandboxes().get(id))).isEqualTo(placeholder);
      assertThat(containing(VALUE)).isEmpty();
    }
  }

  @Test
  void sandboxOutlivesItsSecret() throws IOException {
    try (EngineFixture fixture = fixture()) {
      SecretService secrets = fixture.engine.secrets();
      secrets.put(request("github", VALUE));
      SandboxId id =
          fixture.engine.creator().create(using(Map.of("API_KEY", "github"))).view().id();
      secrets.remove("github");
      assertThat(secrets.bound(List.of("github"))).isEmpty();
      assertThat(variable(fixture.engine.sandboxes().get(id))).startsWith("sk-");
      assertThat(fixture.engine.forks().fork(id, ForkRequest.of(1)))
          .hasOnlyElementsOfType(ForkResult.Created.class);
      fixture.clock.pass(IDLE.plusSeconds(1));
      await().until(() -> fixture.engine.sandboxes().view(id).state() == SandboxState.STOPPED);
      assertThat(variable(fixture.engine.sandboxes().get(id))).isEmpty();
      assertThatThrownBy(() -> secrets.remove("github")).isInstanceOf(NotFound.class);
    }
  }

  @Test
  void unknownOrForbiddenSecretCreatesNothing() throws IOException {
    try (EngineFixture fixture = fixture()) {
      fixture.engine.secrets().put(request("github", VALUE, "ci"));
      SandboxRequest wanted = using(Map.of("API_KEY", "github"));
      List<SandboxRequest> refused =
          List.of(
              using(Map.of("API_KEY", "absent")).withKey("ci"),
              wanted,
              wanted.withKey("other"),
              using(header("Bearer ${secret.github}")).withKey("other"));
      for (SandboxRequest request : refused) {
        assertThatThrownBy(() -> fixture.engine.creator().create(request))
            .isInstanceOf(NotFound.class)
            .hasMessageContaining("secret named");
      }
      assertThat(fixture.engine.sandboxes().counts()).isEmpty();
      SandboxId id = fixture.engine.creator().create(wanted.withKey("ci")).view().id();
      ForkRequest fork = ForkRequest.of(1, ForkKind.FILESYSTEM);
      assertThat(fixture.engine.forks().fork(id, fork.withKey(Optional.of("other"))))
          .hasOnlyElementsOfType(ForkResult.Failed.class);
      assertThat(fixture.engine.forks().fork(id, fork.withKey(Optional.of("ci"))))
          .hasOnlyElementsOfType(ForkResult.Created.class);
      assertThat(fixture.engine.creator().create(using(header("${secret.github}")).withKey("ci")))
          .isNotNull();
      Egress wider = header("${secret.github}");
      for (Optional<String> key : List.of(Optional.of("other"), Optional.<String>empty())) {
        assertThatThrownBy(() -> fixture.engine.egress().replace(id, wider, false, key))
            .isInstanceOf(NotFound.class);
        assertThatThrownBy(() -> fixture.engine.egress().add(id, wider.rules().getFirst(), key))
            .isInstanceOf(NotFound.class);
      }
      assertThatThrownBy(
              () -> fixture.engine.creator().create(using(Map.of("PLAIN", "github")).withKey("ci")))
          .isInstanceOf(InvalidRequest.class)
          .hasMessageContaining("PLAIN");
    }
  }

  private static Egress header(String value) {
    HttpRule http =
        new HttpRule(List.of(), Optional.empty(), Map.of(), Map.of("Authorization", value));
    return Egress.NONE.withRules(
        List.of(new EgressRule(EgressAction.ALLOW, "api.example.com", List.of(), List.of(http))));
  }

  @Test
  void placeholderStaysWhileTheLengthDoesAndEarlierOnesStayValid() throws IOException {
    try (EngineFixture fixture = new EngineFixture(folder, "")) {
      SecretService secrets = fixture.engine.secrets();
      String first = secrets.put(request("github", VALUE)).placeholder();
      String sameLength = "X".repeat(VALUE.length());
      assertThat(secrets.put(request("github", sameLength)).placeholders()).containsExactly(first);
      assertThat(secrets.bound(List.of("github")).getFirst().value())
          .isEqualTo(Secret.of(sameLength));
      for (int more = 1; more <= 9; more++) {
        secrets.put(request("github", VALUE + "a".repeat(more)));
      }
      NamedSecret last = secrets.get("github");
      assertThat(last.placeholders()).hasSize(8).doesNotContain(first).doesNotHaveDuplicates();
      assertThat(last.placeholder()).hasSize(VALUE.length() + 9);
      String brief = secrets.put(request("brief", "hunter2")).placeholder();
      assertThat(secrets.put(request("brief", "hunter3-longer")).placeholders())
          .containsExactly(brief);
      assertThat(secrets.list()).extracting(NamedSecret::name).containsExactly("brief", "github");
    }
  }

  @Test
  void rotationOfTheKeyKeepsSecretsAndPlaceholders() throws IOException {
    try (EngineFixture fixture = fixture()) {
      NamedSecret before = fixture.engine.secrets().put(request("github", VALUE));
      byte[] key = Files.readAllBytes(folder.resolve("secrets.key"));
      assertThat(fixture.engine.secrets().rotateKey().values()).isEqualTo(1);
      assertThat(Files.readAllBytes(folder.resolve("secrets.key"))).isNotEqualTo(key);
      fixture.restart(() -> {});
      assertThat(fixture.engine.secrets().get("github")).isEqualTo(before);
      assertThat(fixture.engine.secrets().bound(List.of("github")).getFirst().value())
          .isEqualTo(Secret.of(VALUE));
    }
  }

  @Test
  void hostsCannotBeChangedInTheLedger() throws IOException {
    try (EngineFixture fixture = new EngineFixture(folder, "")) {
      fixture.engine.secrets().put(request("github", VALUE));
      String stored = fixture.ledger.settings().get("secret", "github").orElseThrow();
      assertThat(stored).doesNotContain("example.com");
      fixture.restart(() -> fixture.ledger.settings().put("secret", "other", stored));
      assertThatThrownBy(() -> fixture.engine.secrets().list())
          .isInstanceOf(SandboxException.class)
          .hasMessageContaining("secret other cannot be decrypted");
      fixture.engine.secrets().remove("other");
      assertThat(fixture.engine.secrets().list()).hasSize(1);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "two\nlines",
        "carriage\rreturn",
        "nul\0",
        "ümlaut",
        " lead7",
        "trail7 ",
        "tab\t"
      })
  void valueThatAHeaderCannotCarryIsRefused(String value) {
    assertThatThrownBy(() -> request("name", value))
        .isInstanceOf(InvalidRequest.class)
        .satisfies(
            e -> {
              if (value.length() > 1) {
                assertThat(e.toString()).doesNotContain(value);
              }
            });
    assertThatThrownBy(() -> request("name", "x".repeat(64 * 1024 + 1)))
        .isInstanceOf(InvalidRequest.class);
    assertThat(request("name", "x".repeat(64 * 1024)).hosts()).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "*",
        "*.com",
        "10.0.0.1",
        "10.0.0.0/8",
        "https://example.com",
        "a b",
        "",
        "example.com:443",
        "::1"
      })
  void hostThatIsTooWideOrNoNameIsRefused(String host) {
    assertThatThrownBy(() -> new SecretRequest("name", Secret.of("v"), List.of(host), List.of()))
        .isInstanceOf(InvalidRequest.class)
        .hasMessageContaining("cannot be bound");
    assertThat(
            new SecretRequest(
                    "name",
                    Secret.of("v"),
                    List.of("API.Example.com", "api.example.com.", "*.Example.com"),
                    List.of())
                .hosts())
        .containsExactly("api.example.com", "*.example.com");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ".hidden", "a/b", "a b", "-x", "ä"})
  void nameWithOtherCharactersIsRefused(String name) {
    assertThatThrownBy(() -> request(name, "v")).isInstanceOf(InvalidRequest.class);
    assertThatThrownBy(() -> request("n".repeat(65), "v")).isInstanceOf(InvalidRequest.class);
  }
}
