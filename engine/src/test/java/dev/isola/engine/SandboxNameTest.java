package dev.isola.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.CreateResult;
import dev.isola.engine.api.SandboxListFilter;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.SandboxView;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Names that clients give sandboxes. */
class SandboxNameTest {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final String POOL =
      """
      pool:
        - provider: test
          size: 1
          spec:
            env: {KIND: warm}
      """;

  @TempDir Path folder;

  private static SandboxRequest request() {
    SandboxSpec spec = SandboxSpec.builder(SandboxId.random(RANDOM)).build();
    return SandboxRequest.of(CreateRequest.of(spec, "test"));
  }

  private static SandboxRequest warmRequest() {
    SandboxSpec spec = SandboxSpec.builder(SandboxId.random(RANDOM)).env("KIND", "warm").build();
    return SandboxRequest.of(CreateRequest.of(spec, "test"));
  }

  private static List<SandboxView> named(EngineFixture fixture, String name) {
    return fixture
        .engine
        .sandboxes()
        .list(SandboxListFilter.ALL.notDestroyed().name(name), "", 10)
        .entries();
  }

  @Test
  void nameIsTakenUntilTheSandboxIsDestroyedAndSurvivesARestart() throws IOException {
    try (EngineFixture fixture = new EngineFixture(folder, "")) {
      SandboxId first = fixture.engine.creator().create(request().withName("web")).view().id();
      assertThatThrownBy(() -> fixture.engine.creator().create(request().withName("web")))
          .isInstanceOf(Conflict.class)
          .hasMessageContaining("the name 'web' belongs to sandbox " + first);
      assertThat(fixture.registry.get("test").inventory()).hasSize(1);

      fixture.restart(() -> {});
      assertThat(named(fixture, "web")).extracting(SandboxView::id).containsExactly(first);
      fixture.engine.sandboxes().destroy(first, DestroyOptions.FORCE);
      assertThat(fixture.engine.creator().create(request().withName("web")).view().name())
          .contains("web");
    }
  }

  @Test
  void repeatedRequestReturnsTheNamedSandbox() throws IOException {
    try (EngineFixture fixture = new EngineFixture(folder, POOL)) {
      SandboxRequest request = request().withName("web").withIdempotencyKey("k1");
      SandboxId first = fixture.engine.creator().create(request).view().id();
      CreateResult again =
          fixture.engine.creator().create(request().withName("web").withIdempotencyKey("k1"));
      assertThat(again.view().id()).isEqualTo(first);
      assertThat(again.repeated()).isTrue();
      assertThatThrownBy(
              () ->
                  fixture
                      .engine
                      .creator()
                      .create(request().withName("db").withIdempotencyKey("k1")))
          .isInstanceOf(Conflict.class)
          .hasMessageContaining("a different request");
    }
  }

  @Test
  void sandboxOfTheWarmPoolReceivesTheName() throws IOException {
    try (EngineFixture fixture = new EngineFixture(folder, POOL)) {
      awaitPool(fixture);
      CreateResult claimed =
          fixture.engine.creator().create(warmRequest().withName("web").withIdempotencyKey("k1"));
      assertThat(claimed.view().warm()).isTrue();
      assertThat(claimed.view().name()).contains("web");
      awaitPool(fixture);
      CreateResult again =
          fixture.engine.creator().create(warmRequest().withName("web").withIdempotencyKey("k1"));
      assertThat(again.view().id()).isEqualTo(claimed.view().id());
      assertThatThrownBy(() -> fixture.engine.creator().create(warmRequest().withName("web")))
          .isInstanceOf(Conflict.class)
          .hasMessageContaining("belongs to sandbox " + claimed.view().id());
      assertThat(named(fixture, "web")).hasSize(1);
    }
  }

  private static void awaitPool(EngineFixture fixture) {
    await()
        .until(
            () ->
                fixture
                        .engine
                        .sandboxes()
                        .list(
                            SandboxListFilter.ALL.pooled(true).states(SandboxState.RUNNING), "", 10)
                        .entries()
                        .size()
                    == 1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "-a", ".", "a b", "a/b", "ä", "a\nb", "0123456789abcdefghij"})
  void invalidNameIsRefused(String name) {
    assertThatThrownBy(() -> request().withName(name)).isInstanceOf(InvalidRequest.class);
    assertThatThrownBy(() -> request().withName("a".repeat(64)))
        .isInstanceOf(InvalidRequest.class)
        .hasMessageContaining("1 to 63");
  }

  @ParameterizedTest
  @ValueSource(strings = {"a", "web", "Web-2_b.c", "0123456789ABCDEFGHIJ"})
  void validNameIsAccepted(String name) {
    assertThat(request().withName(name).name()).contains(name);
  }
}
