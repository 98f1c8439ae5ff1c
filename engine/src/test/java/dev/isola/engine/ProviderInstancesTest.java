package dev.isola.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.admission.Resources;
import dev.isola.engine.api.SandboxCount;
import dev.isola.engine.api.SandboxView;
import dev.isola.engine.lifecycle.SandboxRequest;
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

  private EngineFixture house() throws IOException {
    return new EngineFixture(folder, YAML, new SubprocessProviderFactory());
  }

  private static void make(EngineFixture house, SandboxId id, String provider) {
    SandboxSpec spec = SandboxSpec.builder(id).build();
    house.engine.create(SandboxRequest.of(CreateRequest.of(spec, provider)).withFixedId());
  }

  private static String output(EngineFixture house, SandboxId id, String script) {
    return house.engine.sandbox(id).run(Command.shell(script)).stdout().text();
  }

  private static List<SandboxId> inventory(EngineFixture house, String provider) {
    return house.registry.get(provider).inventory().stream().map(InventoryItem::id).toList();
  }

  private boolean isUnder(String instance, SandboxId id) throws IOException {
    try (Stream<Path> files = Files.walk(folder.resolve("instances").resolve(instance))) {
      return files.anyMatch(file -> file.getFileName().toString().contains(id.value()));
    }
  }

  @Test
  void eachHasSandboxesDataAndCountsOfItsOwn() throws IOException {
    try (EngineFixture house = house()) {
      assertThat(house.registry.names()).contains("east", "west", "off", "subprocess", "test");
      make(house, EAST, "east");
      make(house, WEST, "west");
      output(house, EAST, "echo of the east > file");
      output(house, WEST, "echo of the west > file");
      assertThat(house.engine.view(EAST).provider()).isEqualTo("east");
      assertThat(inventory(house, "east")).containsExactly(EAST);
      assertThat(inventory(house, "west")).containsExactly(WEST);
      assertThat(inventory(house, "subprocess")).isEmpty();
      assertThat(isUnder("east", EAST)).isTrue();
      assertThat(isUnder("east", WEST)).isFalse();
      assertThat(house.engine.counts())
          .extracting(SandboxCount::provider)
          .containsExactly("east", "west");
      assertThat(house.health.awaitFirstProbes())
          .filteredOn(one -> one.usable() && one.info().orElseThrow().name().equals(one.name()))
          .extracting(one -> one.name())
          .contains("east", "west");

      house.restart(() -> {});

      assertThat(output(house, EAST, "cat file")).isEqualTo("of the east\n");
      assertThat(output(house, WEST, "cat file")).isEqualTo("of the west\n");
      house.engine.destroy(EAST, DestroyOptions.FORCE);
      assertThat(house.engine.view(EAST).state()).isEqualTo(SandboxState.DESTROYED);
      assertThat(output(house, WEST, "cat file")).isEqualTo("of the west\n");
      house.engine.destroy(WEST, DestroyOptions.FORCE);
    }
  }

  @Test
  void aRequestAsksForARegion() throws IOException {
    try (EngineFixture house = house()) {
      CreateRequest any = CreateRequest.auto(SandboxSpec.builder(EAST).build());
      assertThat(
              house
                  .engine
                  .create(SandboxRequest.of(any.inRegion("us")).withFixedId())
                  .view()
                  .provider())
          .isEqualTo("west");
      house.engine.destroy(EAST, DestroyOptions.FORCE);
      CreateRequest other = CreateRequest.auto(SandboxSpec.builder(WEST).build());
      assertThatThrownBy(
              () ->
                  house.engine.create(SandboxRequest.of(other.withProvider("east").inRegion("us"))))
          .hasMessageContaining("east: is not in region us");
      assertThatThrownBy(() -> house.engine.create(SandboxRequest.of(other.inRegion("uss"))))
          .isInstanceOf(InvalidRequest.class)
          .hasMessageContainingAll("no provider is in region 'uss'", "'us'", "eu, us");
    }
  }

  @Test
  void eachIsAdmittedByItsOwnCapacityAndReportsItsOwnResources() throws IOException {
    String yaml =
        YAML.replace("region: eu}", "region: eu, capacity_memory_mb: 1024}")
            .replace("{interval: 1s}", "{interval: 1s}\nadmission: {queue_timeout: 0s}");
    try (EngineFixture house = new EngineFixture(folder, yaml, new SubprocessProviderFactory())) {
      make(house, EAST, "east");
      assertThat(house.engine.reserved("east")).isEqualTo(Resources.of(1, 1024));
      assertThat(house.engine.reserved("west")).isEqualTo(Resources.NONE);
      assertThat(house.engine.reserved().reserved())
          .as("what the others share")
          .isEqualTo(Resources.NONE);
      assertThatThrownBy(() -> make(house, WEST, "east"))
          .isInstanceOf(LimitExceeded.class)
          .hasMessageContaining("providers.east.capacity_memory_mb");
      make(house, WEST, "west");
      assertThat(house.engine.reserved("west")).isEqualTo(Resources.of(1, 1024));
      assertThat(house.health.awaitFirstProbes())
          .filteredOn(one -> one.name().equals("east"))
          .singleElement()
          .satisfies(one -> assertThat(one.resources().orElseThrow().memoryMb()).isPositive());

      house.restart(() -> {});

      assertThat(output(house, EAST, "echo here")).isEqualTo("here\n");
      assertThat(house.engine.reserved("east")).isEqualTo(Resources.of(1, 1024));
      house.engine.destroy(EAST, DestroyOptions.FORCE);
      assertThat(house.engine.reserved("east")).isEqualTo(Resources.NONE);
      house.engine.destroy(WEST, DestroyOptions.FORCE);
    }
  }

  /** A request that names no provider goes to the one with room. */
  @Test
  void aFullInstanceIsPassedOver() throws IOException {
    String yaml =
        """
        allow_process: true
        floor: process
        admission: {queue_timeout: 0s}
        providers:
          east: {type: subprocess, region: eu, capacity_memory_mb: 1024}
          west: {type: subprocess, region: eu, capacity_memory_mb: 1024}
        """;
    try (EngineFixture house = new EngineFixture(folder, yaml, new SubprocessProviderFactory())) {
      for (SandboxId id : List.of(EAST, WEST)) {
        CreateRequest any = CreateRequest.auto(SandboxSpec.builder(id).build()).inRegion("eu");
        house.engine.create(SandboxRequest.of(any).withFixedId());
      }
      assertThat(List.of(house.engine.view(EAST), house.engine.view(WEST)))
          .extracting(SandboxView::provider)
          .containsExactlyInAnyOrder("east", "west");
      assertThat(house.engine.reserved("east")).isEqualTo(Resources.of(1, 1024));
      assertThat(house.engine.reserved("west")).isEqualTo(Resources.of(1, 1024));
      CreateRequest third =
          CreateRequest.auto(SandboxSpec.builder(new SandboxId("third")).build()).inRegion("eu");
      assertThatThrownBy(() -> house.engine.create(SandboxRequest.of(third)))
          .isInstanceOf(LimitExceeded.class);
      house.engine.destroy(EAST, DestroyOptions.FORCE);
      house.engine.destroy(WEST, DestroyOptions.FORCE);
    }
  }

  @Test
  void oneThatIsTurnedOffTakesNoOtherDown() throws IOException {
    try (EngineFixture house = house()) {
      assertThatThrownBy(() -> make(house, EAST, "off")).isInstanceOf(ProviderUnavailable.class);
      make(house, WEST, "west");
      house.engine.destroy(WEST, DestroyOptions.FORCE);
    }
  }
}
