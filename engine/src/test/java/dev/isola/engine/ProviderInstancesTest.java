package dev.isola.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.Resources;
import dev.isola.engine.api.SandboxCount;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.SandboxView;
import dev.isola.provider.subprocess.SubprocessProviderFactory;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.error.LimitExceeded;
import dev.isola.spi.error.ProviderUnavailable;
import dev.isola.spi.exec.Command;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two instances of one real provider type behave as two providers. */
class ProviderInstancesTest {
  private static final SandboxId EAST = new SandboxId("ineast");
  private static final SandboxId WEST = new SandboxId("inwest");
  private static final String YAML =
      """
      allow_process: true
      reconcile: {interval: 1s}
      providers:
        east: {type: subprocess, region: eu}
        west: {type: subprocess, region: us}
        off: {type: subprocess, enabled: false}
      """;

  @TempDir Path folder;

  private EngineFixture fixture() throws IOException {
    return new EngineFixture(folder, YAML, new SubprocessProviderFactory());
  }

  private static void make(EngineFixture fixture, SandboxId id, String provider) {
    SandboxSpec spec = SandboxSpec.builder(id).build();
    fixture
        .engine
        .creator()
        .create(SandboxRequest.of(CreateRequest.of(spec, provider)).withFixedId());
  }

  private static String output(EngineFixture fixture, SandboxId id, String script) {
    return fixture.engine.sandboxes().get(id).run(Command.shell(script)).stdout().text();
  }

  private static List<SandboxId> inventory(EngineFixture fixture, String provider) {
    return fixture.registry.get(provider).inventory().stream().map(InventoryItem::id).toList();
  }

  private boolean isUnder(String instance, SandboxId id) throws IOException {
    try (Stream<Path> files = Files.walk(folder.resolve("instances").resolve(instance))) {
      return files.anyMatch(file -> file.getFileName().toString().contains(id.value()));
    }
  }

  @Test
  void instancesHaveSeparateSandboxesDataAndCounts() throws IOException {
    try (EngineFixture fixture = fixture()) {
      assertThat(fixture.registry.names()).contains("east", "west", "off", "subprocess", "test");
      make(fixture, EAST, "east");
      make(fixture, WEST, "west");
      output(fixture, EAST, "echo of the east > file");
      output(fixture, WEST, "echo of the west > file");
      assertThat(fixture.engine.sandboxes().view(EAST).provider()).isEqualTo("east");
      assertThat(inventory(fixture, "east")).containsExactly(EAST);
      assertThat(inventory(fixture, "west")).containsExactly(WEST);
      assertThat(inventory(fixture, "subprocess")).isEmpty();
      assertThat(isUnder("east", EAST)).isTrue();
      assertThat(isUnder("east", WEST)).isFalse();
      assertThat(fixture.engine.sandboxes().counts())
          .extracting(SandboxCount::provider)
          .containsExactly("east", "west");
      assertThat(fixture.health.awaitFirstProbes())
          .filteredOn(one -> one.usable() && one.info().orElseThrow().name().equals(one.name()))
          .extracting(one -> one.name())
          .contains("east", "west");

      fixture.restart(() -> {});

      assertThat(output(fixture, EAST, "cat file")).isEqualTo("of the east\n");
      assertThat(output(fixture, WEST, "cat file")).isEqualTo("of the west\n");
      fixture.engine.sandboxes().destroy(EAST, DestroyOptions.FORCE);
      assertThat(fixture.engine.sandboxes().view(EAST).state()).isEqualTo(SandboxState.DESTROYED);
      assertThat(output(fixture, WEST, "cat file")).isEqualTo("of the west\n");
      fixture.engine.sandboxes().destroy(WEST, DestroyOptions.FORCE);
    }
  }

  @Test
  void requestSelectsARegion() throws IOException {
    try (EngineFixture fixture = fixture()) {
      CreateRequest any = CreateRequest.auto(SandboxSpec.builder(EAST).build());
      assertThat(
              fixture
                  .engine
                  .creator()
                  .create(SandboxRequest.of(any.inRegion("us")).withFixedId())
                  .view()
                  .provider())
          .isEqualTo("west");
      fixture.engine.sandboxes().destroy(EAST, DestroyOptions.FORCE);
      CreateRequest other = CreateRequest.auto(SandboxSpec.builder(WEST).build());
      assertThatThrownBy(
              () ->
                  fixture
                      .engine
                      .creator()
                      .create(SandboxRequest.of(other.withProvider("east").inRegion("us"))))
          .hasMessageContaining("east: is not in region us");
      assertThatThrownBy(
              () -> fixture.engine.creator().create(SandboxRequest.of(other.inRegion("uss"))))
          .isInstanceOf(InvalidRequest.class)
          .hasMessageContainingAll("no provider is in region 'uss'", "'us'", "eu, us");
    }
  }

  @Test
  void instancesHaveSeparateCapacitiesAndResources() throws IOException {
    String yaml =
        YAML.replace("region: eu}", "region: eu, capacity_memory_mb: 1024}")
            .replace("{interval: 1s}", "{interval: 1s}\nadmission: {queue_timeout: 0s}");
    try (EngineFixture fixture = new EngineFixture(folder, yaml, new SubprocessProviderFactory())) {
      make(fixture, EAST, "east");
      assertThat(fixture.engine.reserved("east")).hasToString("1024 MB and 1 cpu");
      assertThat(fixture.engine.reserved("west")).isEqualTo(Resources.NONE);
      assertThat(fixture.engine.reserved().reserved())
          .as("the shared capacity")
          .isEqualTo(Resources.NONE);
      assertThatThrownBy(() -> make(fixture, WEST, "east"))
          .isInstanceOf(LimitExceeded.class)
          .hasMessageContaining("providers.east.capacity_memory_mb");
      make(fixture, WEST, "west");
      assertThat(fixture.engine.reserved("west")).hasToString("1024 MB and 1 cpu");
      assertThat(fixture.health.awaitFirstProbes())
          .filteredOn(one -> one.name().equals("east"))
          .singleElement()
          .satisfies(one -> assertThat(one.resources().orElseThrow().memoryMb()).isPositive());

      fixture.restart(() -> {});

      assertThat(output(fixture, EAST, "echo here")).isEqualTo("here\n");
      assertThat(fixture.engine.reserved("east")).hasToString("1024 MB and 1 cpu");
      fixture.engine.sandboxes().destroy(EAST, DestroyOptions.FORCE);
      assertThat(fixture.engine.reserved("east")).isEqualTo(Resources.NONE);
      fixture.engine.sandboxes().destroy(WEST, DestroyOptions.FORCE);
    }
  }

  /** A request that names no provider goes to the instance with free capacity. */
  @Test
  void fullInstanceIsSkipped() throws IOException {
    String yaml =
        """
        allow_process: true
        floor: process
        admission: {queue_timeout: 0s}
        providers:
          east: {type: subprocess, region: eu, capacity_memory_mb: 1024}
          west: {type: subprocess, region: eu, capacity_memory_mb: 1024}
        """;
    try (EngineFixture fixture = new EngineFixture(folder, yaml, new SubprocessProviderFactory())) {
      for (SandboxId id : List.of(EAST, WEST)) {
        CreateRequest any = CreateRequest.auto(SandboxSpec.builder(id).build()).inRegion("eu");
        fixture.engine.creator().create(SandboxRequest.of(any).withFixedId());
      }
      assertThat(
              List.of(fixture.engine.sandboxes().view(EAST), fixture.engine.sandboxes().view(WEST)))
          .extracting(SandboxView::provider)
          .containsExactlyInAnyOrder("east", "west");
      assertThat(fixture.engine.reserved("east")).hasToString("1024 MB and 1 cpu");
      assertThat(fixture.engine.reserved("west")).hasToString("1024 MB and 1 cpu");
      CreateRequest third =
          CreateRequest.auto(SandboxSpec.builder(new SandboxId("third")).build()).inRegion("eu");
      assertThatThrownBy(() -> fixture.engine.creator().create(SandboxRequest.of(third)))
          .isInstanceOf(LimitExceeded.class);
      fixture.engine.sandboxes().destroy(EAST, DestroyOptions.FORCE);
      fixture.engine.sandboxes().destroy(WEST, DestroyOptions.FORCE);
    }
  }

  @Test
  void disabledInstanceDoesNotAffectOthers() throws IOException {
    try (EngineFixture fixture = fixture()) {
      assertThatThrownBy(() -> make(fixture, EAST, "off")).isInstanceOf(ProviderUnavailable.class);
      make(fixture, WEST, "west");
      fixture.engine.sandboxes().destroy(WEST, DestroyOptions.FORCE);
    }
  }
}
