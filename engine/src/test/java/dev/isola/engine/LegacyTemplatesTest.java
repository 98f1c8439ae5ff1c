package dev.isola.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.document.recipe.Recipe;
import dev.isola.engine.api.TemplateView;
import dev.isola.engine.template.BuildSettings;
import dev.isola.spi.error.Unsupported;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Migration of templates of earlier versions, on an engine without an image store. */
class LegacyTemplatesTest {
  private EngineFixture fixture;

  @BeforeEach
  void open(@TempDir Path folder) throws IOException {
    fixture = new EngineFixture(folder, "shutdown: leave\n");
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void legacyTemplatesAreMigrated() throws IOException {
    fixture
        .ledger
        .settings()
        .put(
            "e2b-template",
            "t1",
            "{\"id\":\"t1\",\"names\":[\"greeter\",\"greeter:v1\"],\"image\":\"e2b-t1\","
                + "\"env\":{\"GREETING\":\"hello\"},\"user\":\"user\",\"folder\":\"/home/user\","
                + "\"start\":\"serve\",\"ready\":\"check\",\"cpus\":2,\"memoryMb\":512,"
                + "\"build\":\"b1\",\"createdAt\":\"2026-01-02T03:04:05Z\"}");
    fixture
        .ledger
        .settings()
        .put(
            "e2b-template",
            "t2",
            "{\"id\":\"t2\",\"names\":[\"unbuilt\"],\"env\":{},\"user\":\"user\","
                + "\"folder\":\"/home/user\",\"build\":\"b2\","
                + "\"createdAt\":\"2026-01-02T03:04:05Z\"}");
    fixture.ledger.settings().put("e2b-template", "t3", "unreadable");
    fixture.restart(() -> {});
    TemplateView old = fixture.engine.templates().requireBuilt("greeter:v1");
    assertThat(old.id()).isEqualTo("t1");
    assertThat(old.names()).containsExactly("greeter", "greeter:v1");
    assertThat(old.image()).contains("e2b-t1");
    assertThat(old.env()).isEqualTo(Map.of("GREETING", "hello"));
    assertThat(old.user()).isEqualTo("user");
    assertThat(old.cwd()).isEqualTo("/home/user");
    assertThat(old.start()).contains("serve");
    assertThat(old.ready()).contains("check");
    assertThat(old.cpus()).contains(2L);
    assertThat(old.memoryMb()).contains(512L);
    assertThat(old.createdAt()).isEqualTo(Instant.parse("2026-01-02T03:04:05Z"));
    assertThat(fixture.ledger.templates().build("b1"))
        .hasValueSatisfying(build -> assertThat(build.image()).isEqualTo("e2b-t1"));
    assertThat(fixture.engine.templates().find("unbuilt")).isPresent();
    assertThat(fixture.ledger.settings().all("e2b-template")).containsOnlyKeys("t3");
    assertThat(fixture.log.warnings).anyMatch(line -> line.contains("t3"));
    fixture.engine.templates().remove("greeter");
    assertThat(fixture.engine.templates().find("greeter")).isEmpty();
  }

  @Test
  void engineWithoutImageStoreCannotBuild() {
    Recipe recipe =
        new Recipe(
            new Recipe.Base.Image("base"),
            List.of(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty());
    assertThatThrownBy(() -> fixture.engine.templates().build("web", recipe, BuildSettings.DEFAULT))
        .isInstanceOf(Unsupported.class)
        .hasMessageContaining("image store");
    assertThat(fixture.engine.templates().list()).isEmpty();
  }
}
