package dev.isola.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.HelperProfile;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.VolumeView;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.ProviderUnavailable;
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

/** Volumes of the engine, at providers whose behaviour a test sets. */
class VolumeServiceTest {
  private final FakeProvider bubblewrap = new FakeProvider("bubblewrap");
  private final FakeProvider gvisor = new FakeProvider("gvisor");
  private EngineFixture fixture;

  @BeforeEach
  void open(@TempDir Path folder) throws IOException {
    fixture = new EngineFixture(folder, "shutdown: leave\n", bubblewrap, gvisor);
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  private VolumeView create(String name) {
    return fixture.engine.volumes().create("", name, "bubblewrap");
  }

  private static SandboxSpec.Builder mounting(String id, String volume) {
    return SandboxSpec.builder(new SandboxId(id))
        .volume(new VolumeMount(VolumeMount.Type.VOLUME, volume, "/data", false));
  }

  private List<String> names() {
    return fixture.engine.volumes().list("").stream().map(VolumeView::name).toList();
  }

  @Test
  void createdVolumeIsRecordedAndExistsAtItsProvider() {
    VolumeView made = create("data");
    assertThat(made.state()).isEqualTo("available");
    assertThat(made.provider()).isEqualTo("bubblewrap");
    assertThat(bubblewrap.volumes).containsExactly("data");
    assertThat(fixture.engine.volumes().get("", "data")).isEqualTo(made);
    assertThat(fixture.engine.volumes().find("", made.id())).contains(made);
    fixture.engine.volumes().remove("", "data");
    assertThat(bubblewrap.volumes).isEmpty();
    assertThat(names()).isEmpty();
    assertThatThrownBy(() -> fixture.engine.volumes().remove("", "data"))
        .isInstanceOfSatisfying(
            NotFound.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.VOLUME_NOT_FOUND));
  }

  @Test
  void volumeNameIsUniqueAndCannotBeAPath() {
    create("data");
    assertThatThrownBy(() -> create("data")).isInstanceOf(Conflict.class);
    for (String wrong : List.of("", "..", "a/b", "../x", "a b", "x".repeat(129))) {
      assertThatThrownBy(() -> create(wrong)).as(wrong).isInstanceOf(InvalidRequest.class);
    }
    assertThat(names()).containsExactly("data");
  }

  @Test
  void volumesOfAnotherTenantAreInaccessible() {
    fixture.engine.volumes().create("acme", "data", "bubblewrap");
    assertThat(names()).isEmpty();
    assertThatThrownBy(() -> fixture.engine.volumes().get("", "data")).isInstanceOf(NotFound.class);
    assertThatThrownBy(() -> fixture.engine.volumes().remove("", "data"))
        .isInstanceOf(NotFound.class);
    assertThatThrownBy(() -> fixture.engine.volumes().files("", "data", HelperProfile.DEFAULT))
        .isInstanceOf(NotFound.class);
    assertThatThrownBy(() -> create("data")).isInstanceOf(Conflict.class);
    SandboxRequest request =
        SandboxRequest.of(CreateRequest.auto(mounting("box1", "data").build()));
    assertThatThrownBy(() -> fixture.engine.creator().create(request)).isInstanceOf(NotFound.class);
    assertThat(fixture.engine.creator().create(request.withTenant("acme")).view().provider())
        .isEqualTo("bubblewrap");
  }

  @Test
  void sandboxIsPlacedAtTheProviderOfItsVolume() {
    fixture.engine.volumes().create("", "data", "gvisor");
    SandboxRequest request =
        SandboxRequest.of(CreateRequest.auto(mounting("box1", "data").build()));
    assertThat(fixture.engine.creator().create(request).view().provider()).isEqualTo("gvisor");
    create("other");
    SandboxSpec both =
        mounting("box2", "data")
            .volume(new VolumeMount(VolumeMount.Type.VOLUME, "other", "/other", false))
            .build();
    assertThatThrownBy(
            () -> fixture.engine.creator().create(SandboxRequest.of(CreateRequest.auto(both))))
        .isInstanceOf(Conflict.class)
        .hasMessageContaining("different providers");
  }

  @Test
  void mountedVolumeCannotBeRemoved() {
    create("data");
    SandboxId id =
        fixture
            .engine
            .creator()
            .create(SandboxRequest.of(CreateRequest.auto(mounting("box1", "data").build())))
            .view()
            .id();
    assertThatThrownBy(() -> fixture.engine.volumes().remove("", "data"))
        .isInstanceOf(Conflict.class)
        .hasMessageContaining("box1");
    assertThat(fixture.engine.volumes().get("", "data").state()).isEqualTo("available");
    assertThat(bubblewrap.volumes).containsExactly("data");
    fixture.engine.sandboxes().destroy(id, DestroyOptions.FORCE);
    fixture.engine.volumes().remove("", "data");
    assertThat(bubblewrap.volumes).isEmpty();
  }

  @Test
  void failedCreateLeavesNothingBehind() {
    bubblewrap.failing(ErrorCode.PROVIDER_UNAVAILABLE, "it is broken");
    assertThatThrownBy(() -> create("data")).isInstanceOf(SandboxException.class);
    assertThat(names()).isEmpty();
    bubblewrap.failure = null;
    assertThat(create("data").state()).isEqualTo("available");
  }

  @Test
  void failedRemovalIsRetriedAndBlocksMounts() {
    create("data");
    bubblewrap.failing(ErrorCode.PROVIDER_UNAVAILABLE, "it is broken");
    assertThatThrownBy(() -> fixture.engine.volumes().remove("", "data"))
        .isInstanceOf(SandboxException.class);
    assertThat(fixture.engine.volumes().get("", "data").state()).isEqualTo("removing");
    bubblewrap.failure = null;
    assertThatThrownBy(
            () ->
                fixture
                    .engine
                    .creator()
                    .create(
                        SandboxRequest.of(CreateRequest.auto(mounting("box1", "data").build()))))
        .isInstanceOf(Conflict.class)
        .hasMessageContaining("being removed");
    assertThatThrownBy(() -> fixture.engine.volumes().files("", "data", HelperProfile.DEFAULT))
        .isInstanceOf(Conflict.class);
    fixture.engine.volumes().reconcile();
    assertThat(names()).isEmpty();
    assertThat(bubblewrap.volumes).isEmpty();
  }

  @Test
  void interruptedChangesAreFinished() {
    bubblewrap.volumes.add("half-removed");
    ledger("half-created", VolumeEntry.State.CREATING);
    ledger("half-removed", VolumeEntry.State.REMOVING);
    fixture.engine.volumes().reconcile();
    assertThat(fixture.engine.volumes().get("", "half-created").state()).isEqualTo("available");
    assertThat(names()).containsExactly("half-created");
    assertThat(bubblewrap.volumes).isEqualTo(Set.of("half-created"));
  }

  private void ledger(String name, VolumeEntry.State state) {
    fixture
        .ledger
        .volumes()
        .insert(
            new VolumeEntry(
                "id-" + name,
                "",
                name,
                "bubblewrap",
                state,
                fixture.clock.instant(),
                fixture.clock.instant()));
  }

  @Test
  void providerWithoutVolumeSupportIsRejectedByName() {
    assertThatThrownBy(() -> fixture.engine.volumes().create("", "data", "test"))
        .isInstanceOf(Unsupported.class)
        .hasMessageContaining("test");
    assertThat(names()).isEmpty();
  }

  @Test
  void unhealthyProviderOfVolumesIsARetryableError() throws IOException {
    fixture.restart(() -> bubblewrap.ill("no namespaces"));
    assertThatThrownBy(() -> create("data"))
        .isInstanceOf(ProviderUnavailable.class)
        .hasMessageContaining("bubblewrap");
    assertThat(names()).isEmpty();
  }
}
