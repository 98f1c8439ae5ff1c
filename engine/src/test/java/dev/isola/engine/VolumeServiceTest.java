package dev.isola.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.VolumeView;
import dev.isola.engine.lifecycle.SandboxRequest;
import dev.isola.engine.volume.HelperProfile;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.error.Unsupported;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import dev.isola.store.VolumeEntry;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Volumes of the engine, at providers that do as a test says. */
class VolumeServiceTest {
  private final FakeProvider bubblewrap = new FakeProvider("bubblewrap");
  private final FakeProvider gvisor = new FakeProvider("gvisor");
  private EngineFixture house;

  @BeforeEach
  void open(@TempDir Path folder) throws IOException {
    house = new EngineFixture(folder, "shutdown: leave\n", bubblewrap, gvisor);
  }

  @AfterEach
  void close() {
    house.close();
  }

  private VolumeView create(String name) {
    return house.engine.volumes().create("", name, "bubblewrap");
  }

  private static SandboxSpec.Builder mounting(String id, String volume) {
    return SandboxSpec.builder(new SandboxId(id))
        .volume(new VolumeMount(VolumeMount.Type.VOLUME, volume, "/data", false));
  }

  private List<String> names() {
    return house.engine.volumes().list("").stream().map(VolumeView::name).toList();
  }

  @Test
  void createdVolumeIsWrittenAndAtItsProvider() {
    VolumeView made = create("data");
    assertThat(made.state()).isEqualTo("available");
    assertThat(made.provider()).isEqualTo("bubblewrap");
    assertThat(bubblewrap.volumes).containsExactly("data");
    assertThat(house.engine.volumes().get("", "data")).isEqualTo(made);
    assertThat(house.engine.volumes().find("", made.id())).contains(made);
    house.engine.volumes().remove("", "data");
    assertThat(bubblewrap.volumes).isEmpty();
    assertThat(names()).isEmpty();
    assertThatThrownBy(() -> house.engine.volumes().remove("", "data"))
        .isInstanceOfSatisfying(
            NotFound.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.VOLUME_NOT_FOUND));
  }

  @Test
  void nameIsTakenOnceAndCannotLeadElsewhere() {
    create("data");
    assertThatThrownBy(() -> create("data")).isInstanceOf(Conflict.class);
    for (String wrong : List.of("", "..", "a/b", "../x", "a b", "x".repeat(129))) {
      assertThatThrownBy(() -> create(wrong)).as(wrong).isInstanceOf(InvalidRequest.class);
    }
    assertThat(names()).containsExactly("data");
  }

  @Test
  void volumesOfAnotherTenantAreNotSeenMountedOrReplaced() {
    house.engine.volumes().create("acme", "data", "bubblewrap");
    assertThat(names()).isEmpty();
    assertThatThrownBy(() -> house.engine.volumes().get("", "data")).isInstanceOf(NotFound.class);
    assertThatThrownBy(() -> house.engine.volumes().remove("", "data"))
        .isInstanceOf(NotFound.class);
    assertThatThrownBy(() -> house.engine.volumes().files("", "data", HelperProfile.DEFAULT))
        .isInstanceOf(NotFound.class);
    assertThatThrownBy(() -> create("data")).isInstanceOf(Conflict.class);
    SandboxRequest request =
        SandboxRequest.of(CreateRequest.auto(mounting("box1", "data").build()));
    assertThatThrownBy(() -> house.engine.create(request)).isInstanceOf(NotFound.class);
    assertThat(house.engine.create(request.withTenant("acme")).view().provider())
        .isEqualTo("bubblewrap");
  }

  @Test
  void sandboxGoesToTheProviderThatHasItsVolume() {
    house.engine.volumes().create("", "data", "gvisor");
    SandboxRequest request =
        SandboxRequest.of(CreateRequest.auto(mounting("box1", "data").build()));
    assertThat(house.engine.create(request).view().provider()).isEqualTo("gvisor");
    create("other");
    SandboxSpec both =
        mounting("box2", "data")
            .volume(new VolumeMount(VolumeMount.Type.VOLUME, "other", "/other", false))
            .build();
    assertThatThrownBy(() -> house.engine.create(SandboxRequest.of(CreateRequest.auto(both))))
        .isInstanceOf(Conflict.class)
        .hasMessageContaining("different providers");
  }

  @Test
  void mountedVolumeIsNotRemoved() {
    create("data");
    SandboxId id =
        house
            .engine
            .create(SandboxRequest.of(CreateRequest.auto(mounting("box1", "data").build())))
            .view()
            .id();
    assertThatThrownBy(() -> house.engine.volumes().remove("", "data"))
        .isInstanceOf(Conflict.class)
        .hasMessageContaining("box1");
    assertThat(house.engine.volumes().get("", "data").state()).isEqualTo("available");
    assertThat(bubblewrap.volumes).containsExactly("data");
    house.engine.destroy(id, DestroyOptions.FORCE);
    house.engine.volumes().remove("", "data");
    assertThat(bubblewrap.volumes).isEmpty();
  }

  @Test
  void failedCreateLeavesNothing() {
    bubblewrap.failing(ErrorCode.PROVIDER_UNAVAILABLE, "it is broken");
    assertThatThrownBy(() -> create("data")).isInstanceOf(SandboxException.class);
    assertThat(names()).isEmpty();
    bubblewrap.failure = null;
    assertThat(create("data").state()).isEqualTo("available");
  }

  @Test
  void failedRemovalIsFinishedLaterAndNothingMountsItMeanwhile() {
    create("data");
    bubblewrap.failing(ErrorCode.PROVIDER_UNAVAILABLE, "it is broken");
    assertThatThrownBy(() -> house.engine.volumes().remove("", "data"))
        .isInstanceOf(SandboxException.class);
    assertThat(house.engine.volumes().get("", "data").state()).isEqualTo("removing");
    bubblewrap.failure = null;
    assertThatThrownBy(
            () ->
                house.engine.create(
                    SandboxRequest.of(CreateRequest.auto(mounting("box1", "data").build()))))
        .isInstanceOf(Conflict.class)
        .hasMessageContaining("being removed");
    assertThatThrownBy(() -> house.engine.volumes().files("", "data", HelperProfile.DEFAULT))
        .isInstanceOf(Conflict.class);
    house.engine.volumes().reconcile();
    assertThat(names()).isEmpty();
    assertThat(bubblewrap.volumes).isEmpty();
  }

  @Test
  void changesThatAServerLeftHalfDoneAreFinished() {
    bubblewrap.volumes.add("half-removed");
    ledger("half-created", VolumeEntry.State.CREATING);
    ledger("half-removed", VolumeEntry.State.REMOVING);
    house.engine.volumes().reconcile();
    assertThat(house.engine.volumes().get("", "half-created").state()).isEqualTo("available");
    assertThat(names()).containsExactly("half-created");
    assertThat(bubblewrap.volumes).isEqualTo(Set.of("half-created"));
  }

  private void ledger(String name, VolumeEntry.State state) {
    house
        .ledger
        .volumes()
        .insert(
            new VolumeEntry(
                "id-" + name,
                "",
                name,
                "bubblewrap",
                state,
                house.clock.instant(),
                house.clock.instant()));
  }

  @Test
  void volumesOfAnEarlierVersionAreTakenOverWithTheirTokens() throws IOException {
    String text = "{\"volumeID\":\"v1\",\"name\":\"old\",\"tokens\":[\"abc\"]}";
    house.ledger.settings().put("e2b-volume", "v1", text);
    house.ledger.settings().put("e2b-volume", "v2", "unreadable");
    house.restart(() -> {});
    VolumeView old = house.engine.volumes().get("", "old");
    assertThat(old.id()).isEqualTo("v1");
    assertThat(old.provider()).isEmpty();
    assertThat(house.ledger.settings().get("e2b-volume-token", "v1")).contains(text);
    assertThat(house.ledger.settings().all("e2b-volume")).containsOnlyKeys("v2");
    assertThat(house.log.warnings).anyMatch(line -> line.contains("v2"));
    // The first sandbox that mounts it decides which provider has its files.
    house.engine.create(
        SandboxRequest.of(CreateRequest.of(mounting("box1", "old").build(), "gvisor")));
    assertThat(house.engine.volumes().get("", "old").provider()).isEqualTo("gvisor");
  }

  @Test
  void providerWithoutVolumesIsRefusedByName() {
    assertThatThrownBy(() -> house.engine.volumes().create("", "data", "test"))
        .isInstanceOf(Unsupported.class)
        .hasMessageContaining("test");
    assertThat(names()).isEmpty();
  }
}
