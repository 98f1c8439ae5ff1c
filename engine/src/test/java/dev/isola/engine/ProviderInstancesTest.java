package dev.isola.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.admission.Resources;
import dev.isola.engine.api.SandboxView;
import dev.isola.engine.api.StateCount;
import dev.isola.engine.lifecycle.Order;
import dev.isola.provider.subprocess.SubprocessProviderFactory;
import dev.isola.spi.Destroy;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.Sighting;
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

  private EngineHouse house() throws IOException {
    return new EngineHouse(folder, YAML, new SubprocessProviderFactory());
  }

  private static void make(EngineHouse house, SandboxId id, String provider) {
    SandboxSpec spec = SandboxSpec.builder(id).build();
    house.engine.create(Order.of(CreateRequest.of(spec, provider)).withFixedId());
  }

  private static String output(EngineHouse house, SandboxId id, String script) {
    return house.engine.sandbox(id).run(Command.shell(script)).stdout().text();
  }

  private static List<SandboxId> inventory(EngineHouse house, String provider) {
    return house.registry.get(provider).inventory().stream().map(Sighting::id).toList();
  }

  private boolean isUnder(String instance, SandboxId id) throws IOException {
    try (Stream<Path> files = Files.walk(folder.resolve("instances").resolve(instance))) {
      return files.anyMatch(file -> file.getFileName().toString().contains(id.value()));
    }
  }

  @Test
  void eachHasSandboxesDataAndCountsOfItsOwn() throws IOException {
    try (EngineHouse house = house()) {
      assertThat(house.registry.names()).contains("east", "west", "off", "subprocess", "test");
      make(house, EAST, "east");
      make(house, WEST, "west");
      output(house, EAST, "echo of the east > file");
      output(house, WEST, "echo of the west > file");
      assertThat(house.engine.entry(EAST).provider()).isEqualTo("east");
      assertThat(inventory(house, "east")).containsExactly(EAST);
      assertThat(inventory(house, "west")).containsExactly(WEST);
      assertThat(inventory(house, "subprocess")).isEmpty();
      assertThat(isUnder("east", EAST)).isTrue();
      assertThat(isUnder("east", WEST)).isFalse();
      assertThat(house.engine.counts())
          .extracting(StateCount::provider)
          .containsExactly("east", "west");
      assertThat(house.health.settled())
          .filteredOn(one -> one.usable() && one.info().orElseThrow().name().equals(one.name()))
          .extracting(one -> one.name())
          .contains("east", "west");

      house.restart(() -> {});

      assertThat(output(house, EAST, "cat file")).isEqualTo("of the east\n");
      assertThat(output(house, WEST, "cat file")).isEqualTo("of the west\n");
      house.engine.destroy(EAST, Destroy.FORCE);
      assertThat(house.engine.entry(EAST).state()).isEqualTo(SandboxState.DESTROYED);
      assertThat(output(house, WEST, "cat file")).isEqualTo("of the west\n");
      house.engine.destroy(WEST, Destroy.FORCE);
    }
  }

  @Test
  void aRequestAsksForARegion() throws IOException {
    try (EngineHouse house = house()) {
      CreateRequest any = CreateRequest.auto(SandboxSpec.builder(EAST).build());
      assertThat(house.engine.create(Order.of(any.inRegion("us")).withFixedId()).entry().provider())
          .isEqualTo("west");
      house.engine.destroy(EAST, Destroy.FORCE);
      CreateRequest other = CreateRequest.auto(SandboxSpec.builder(WEST).build());
      assertThatThrownBy(() -> house.engine.create(Order.of(other.at("east").inRegion("us"))))
          .hasMessageContaining("east: is not in region us");
      assertThatThrownBy(() -> house.engine.create(Order.of(other.inRegion("uss"))))
          .isInstanceOf(InvalidRequest.class)
          .hasMessageContainingAll("no provider is in region 'uss'", "'us'", "eu, us");
    }
  }

  @Test
  void eachIsAdmittedByItsOwnCapacityAndReportsItsOwnResources() throws IOException {
    String yaml =
        YAML
            .replace("region: eu}", "region: eu, capacity_memory_mb: 1024}")
            .replace("{interval: 1s}", "{interval: 1s}\nadmission: {queue_timeout: 0s}");
    try (EngineHouse house = new EngineHouse(folder, yaml, new SubprocessProviderFactory())) {
      make(house, EAST, "east");
      assertThat(house.engine.promised("east")).isEqualTo(Resources.of(1, 1024));
      assertThat(house.engine.promised("west")).isEqualTo(Resources.NONE);
      assertThat(house.engine.promised().promised())
          .as("what the others share")
          .isEqualTo(Resources.NONE);
      assertThatThrownBy(() -> make(house, WEST, "east"))
          .isInstanceOf(LimitExceeded.class)
          .hasMessageContaining("providers.east.capacity_memory_mb");
      make(house, WEST, "west");
      assertThat(house.engine.promised("west")).isEqualTo(Resources.of(1, 1024));
      assertThat(house.health.settled())
          .filteredOn(one -> one.name().equals("east"))
          .singleElement()
          .satisfies(one -> assertThat(one.resources().orElseThrow().memoryMb()).isPositive());

      house.restart(() -> {});

      assertThat(output(house, EAST, "echo here")).isEqualTo("here\n");
      assertThat(house.engine.promised("east")).isEqualTo(Resources.of(1, 1024));
      house.engine.destroy(EAST, Destroy.FORCE);
      assertThat(house.engine.promised("east")).isEqualTo(Resources.NONE);
      house.engine.destroy(WEST, Destroy.FORCE);
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
    try (EngineHouse house = new EngineHouse(folder, yaml, new SubprocessProviderFactory())) {
      for (SandboxId id : List.of(EAST, WEST)) {
        CreateRequest any = CreateRequest.auto(SandboxSpec.builder(id).build()).inRegion("eu");
        house.engine.create(Order.of(any).withFixedId());
      }
      assertThat(List.of(house.engine.entry(EAST), house.engine.entry(WEST)))
          .extracting(SandboxView::provider)
          .containsExactlyInAnyOrder("east", "west");
      assertThat(house.engine.promised("east")).isEqualTo(Resources.of(1, 1024));
      assertThat(house.engine.promised("west")).isEqualTo(Resources.of(1, 1024));
      CreateRequest third =
          CreateRequest.auto(SandboxSpec.builder(new SandboxId("third")).build()).inRegion("eu");
      assertThatThrownBy(() -> house.engine.create(Order.of(third)))
          .isInstanceOf(LimitExceeded.class);
      house.engine.destroy(EAST, Destroy.FORCE);
      house.engine.destroy(WEST, Destroy.FORCE);
    }
  }

  @Test
  void oneThatIsTurnedOffTakesNoOtherDown() throws IOException {
    try (EngineHouse house = house()) {
      assertThatThrownBy(() -> make(house, EAST, "off")).isInstanceOf(ProviderUnavailable.class);
      make(house, WEST, "west");
      house.engine.destroy(WEST, Destroy.FORCE);
    }
  }
}
