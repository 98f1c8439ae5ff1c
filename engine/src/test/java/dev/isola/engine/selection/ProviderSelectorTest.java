package dev.isola.engine.selection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.FakeProvider;
import dev.isola.engine.PlacementFixture;
import dev.isola.engine.api.DeploymentMode;
import dev.isola.engine.api.Rejection;
import dev.isola.engine.api.Selection;
import dev.isola.engine.api.SelectionPolicy;
import dev.isola.spi.Isolation;
import dev.isola.spi.LimitKind;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.provider.Requirements;
import dev.isola.spi.provider.SpecSupport;
import dev.isola.spi.spec.Network;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ProviderSelectorTest {
  private static final SandboxSpec SPEC = PlacementFixture.SPEC;
  private static final FakeProvider BARE =
      new FakeProvider(
          "bare",
          Isolation.CONTAINER,
          new SpecSupport(
              Set.of(),
              Set.of(NetworkMode.NONE),
              Set.of(VolumeMount.Type.BIND),
              Set.of(LimitKind.CPU)),
          Set.of(Terminals.class));

  private static String whyNot(CreateRequest request) {
    return new PlacementFixture(SelectionPolicy.DEFAULT)
        .add(BARE)
        .select(request)
        .rejection("bare")
        .map(Rejection::reason)
        .orElse("");
  }

  @Test
  void rejectsUndeclaredFeaturesByName() {
    assertThat(whyNot(CreateRequest.auto(SPEC))).isEmpty();
    assertThat(whyNot(CreateRequest.auto(SPEC.toBuilder().image("python").build())))
        .isEqualTo("does not support images");
    assertThat(whyNot(CreateRequest.auto(SPEC.toBuilder().user("agent").build())))
        .isEqualTo("does not support running as another user");
    assertThat(
            whyNot(
                CreateRequest.auto(
                    SPEC.toBuilder().network(Network.of(NetworkMode.BRIDGE)).build())))
        .isEqualTo("does not support network mode bridge");
    assertThat(
            whyNot(
                CreateRequest.auto(
                    SPEC.toBuilder()
                        .volume(new VolumeMount(VolumeMount.Type.TMPFS, "", "/tmp/a", false))
                        .volume(new VolumeMount(VolumeMount.Type.TMPFS, "", "/tmp/b", false))
                        .build())))
        .isEqualTo("does not support volumes of type tmpfs");
    assertThat(whyNot(CreateRequest.auto(SPEC.toBuilder().gpus(1).build())))
        .isEqualTo("does not support GPUs");
  }

  @Test
  void rejectsProvidersThatMissARequirement() {
    assertThat(whyNot(CreateRequest.auto(SPEC).requiring(Requirements.limits(LimitKind.MEMORY))))
        .isEqualTo("does not support enforcement of the limit on memory");
    Requirements much =
        new Requirements(
            Isolation.PROCESS,
            Set.of(Pausing.class, Terminals.class),
            Set.of(LimitKind.CPU, LimitKind.FILE_DESCRIPTORS));
    assertThat(whyNot(CreateRequest.auto(SPEC).requiring(much)))
        .isEqualTo("does not support enforcement of the limit on file descriptors, pausing");
    assertThat(whyNot(CreateRequest.auto(SPEC).requiring(Requirements.isolation(Isolation.VM))))
        .isEqualTo("isolation container is weaker than vm, which the request requires");
  }

  @Test
  void advantageOfTheBestProviderIsNamed() {
    PlacementFixture fixture =
        new PlacementFixture(
            new SelectionPolicy(DeploymentMode.SELF_HOSTED, Isolation.PROCESS, true, false, true),
            "gvisor",
            "bubblewrap",
            "subprocess");
    Selection selection = fixture.select(CreateRequest.auto(SPEC));
    assertThat(selection.names()).containsExactly("gvisor", "bubblewrap", "subprocess");
    assertThat(selection.advantages())
        .containsEntry("bubblewrap", "has stronger isolation")
        .containsEntry("subprocess", "isolates its sandboxes")
        .hasSize(2);
    fixture.get("gvisor").degraded("slow");
    assertThat(fixture.select(CreateRequest.auto(SPEC)).advantages())
        .containsEntry("gvisor", "is healthy and not degraded");
    assertThat(fixture.select(CreateRequest.of(SPEC, "bubblewrap")).advantages()).isEmpty();
  }

  @Test
  void emulatedProviderIsRejectedUnlessNamedOrAllowed() {
    PlacementFixture fixture = PlacementFixture.selfHosted("qemu", "gvisor", "bubblewrap");
    fixture.get("qemu").emulated = true;
    assertThat(fixture.select(CreateRequest.auto(SPEC)).names()).doesNotContain("qemu");
    assertThat(fixture.select(CreateRequest.auto(SPEC)).rejection("qemu"))
        .hasValueSatisfying(
            one -> {
              assertThat(one.kind()).isEqualTo(Rejection.Kind.EMULATED);
              assertThat(one.reason()).contains("only if a request names it");
              assertThat(one.fix()).contains("name provider qemu", "allow_emulation: true");
            });
    assertThat(fixture.select(CreateRequest.of(SPEC, "qemu")).names()).containsExactly("qemu");
    fixture.get("qemu").ill("no kernel");
    assertThat(fixture.select(CreateRequest.auto(SPEC)).rejection("qemu"))
        .as("the state of the provider is the more useful reason")
        .hasValueSatisfying(one -> assertThat(one.kind()).isEqualTo(Rejection.Kind.UNHEALTHY));
  }

  @Test
  void allowedEmulatedProviderComesAfterEveryIsolationWithoutEmulation() {
    SelectionPolicy allowing =
        new SelectionPolicy(DeploymentMode.SELF_HOSTED, Isolation.PROCESS, true, true, true);
    PlacementFixture fixture =
        new PlacementFixture(allowing, "qemu", "firecracker", "docker", "subprocess");
    fixture.get("qemu").emulated = true;
    fixture.get("docker").degraded("ls fails in it");
    assertThat(fixture.select(CreateRequest.auto(SPEC)).names())
        .containsExactly("firecracker", "docker", "qemu", "subprocess");
    Requirements virtualMachine = Requirements.isolation(Isolation.VM);
    fixture.get("firecracker").ill("no KVM");
    assertThat(fixture.select(CreateRequest.auto(SPEC).requiring(virtualMachine)).names())
        .containsExactly("qemu");
  }

  @Test
  void unknownNameSuggestsASimilarOne() {
    PlacementFixture fixture = PlacementFixture.selfHosted("gvisor", "docker");
    assertThatThrownBy(() -> fixture.select(CreateRequest.of(SPEC, "gvisr")))
        .isInstanceOf(NotFound.class)
        .hasMessage("no provider is named 'gvisr'; did you mean gvisor? Known: docker, gvisor");
  }

  @Test
  void floorAppliesToNamedProviders() {
    PlacementFixture fixture = PlacementFixture.selfHosted("subprocess");
    Selection selection = fixture.select(CreateRequest.of(SPEC, "subprocess"));
    assertThat(selection.names()).isEmpty();
    assertThat(selection.rejections())
        .containsExactly(
            new Rejection(
                "subprocess",
                Rejection.Kind.TOO_WEAK,
                "isolation process is weaker than container, the floor of this installation",
                "set floor: process"));
  }

  @Test
  void isolationProcessIsUsedOnlyIfNamedOrAllowed() {
    SelectionPolicy low =
        new SelectionPolicy(DeploymentMode.SELF_HOSTED, Isolation.PROCESS, false, false, true);
    PlacementFixture fixture = new PlacementFixture(low, "subprocess", "worktree");
    assertThat(fixture.select(CreateRequest.auto(SPEC)).names()).isEmpty();
    assertThat(fixture.select(CreateRequest.of(SPEC, "subprocess")).names())
        .containsExactly("subprocess");
    assertThat(fixture.select(CreateRequest.of(SPEC, "worktree")).names())
        .containsExactly("worktree");
    SelectionPolicy allowing =
        new SelectionPolicy(DeploymentMode.SELF_HOSTED, Isolation.PROCESS, true, false, true);
    assertThat(
            new PlacementFixture(allowing, "subprocess", "worktree")
                .select(CreateRequest.auto(SPEC))
                .names())
        .containsExactly("subprocess");
  }

  @Test
  void ranksByIsolationThenDependenciesThenSpeed() {
    SelectionPolicy allowing =
        new SelectionPolicy(DeploymentMode.SELF_HOSTED, Isolation.PROCESS, true, false, true);
    PlacementFixture fixture =
        new PlacementFixture(allowing, "subprocess", "docker", "runc", "crun", "bubblewrap")
            .add(new FakeProvider("zoo", Isolation.VM))
            .add(new FakeProvider("ark", Isolation.KERNEL))
            .add(new FakeProvider("ant", Isolation.KERNEL))
            .add(new FakeProvider("zz-slow", Isolation.CONTAINER))
            .add(new FakeProvider("bare-metal", Isolation.PROCESS));
    assertThat(fixture.select(CreateRequest.auto(SPEC)).names())
        .containsExactly(
            "zoo",
            "ant",
            "ark",
            "zz-slow",
            "bubblewrap",
            "crun",
            "runc",
            "docker",
            "bare-metal",
            "subprocess");
  }

  @Test
  void degradedProvidersRankAfterHealthyOnesButBeforeNoIsolation() {
    SelectionPolicy allowing =
        new SelectionPolicy(DeploymentMode.SELF_HOSTED, Isolation.PROCESS, true, false, true);
    PlacementFixture fixture =
        new PlacementFixture(allowing, "gvisor", "bubblewrap", "docker", "subprocess");
    fixture.get("gvisor").degraded("ls fails in it");
    assertThat(fixture.select(CreateRequest.auto(SPEC)).names())
        .containsExactly("bubblewrap", "docker", "gvisor", "subprocess");
    assertThat(fixture.select(PlacementFixture.MCP_SERVER).best().orElseThrow().name())
        .isEqualTo("bubblewrap");
    assertThat(fixture.select(CreateRequest.of(SPEC, "gvisor")).names()).containsExactly("gvisor");
    assertThat(
            fixture
                .select(
                    CreateRequest.auto(SPEC).requiring(Requirements.isolation(Isolation.KERNEL)))
                .names())
        .containsExactly("gvisor");
  }

  @Test
  void managedModePrefersRemoteProvidersOverTheWorkload() {
    PlacementFixture fixture = PlacementFixture.managed(true, "firecracker", "gvisor", "e2b");
    assertThat(fixture.select(PlacementFixture.MCP_SERVER).names())
        .containsExactly("e2b", "gvisor", "firecracker");
  }

  @Test
  void remoteProviderIsNotUsedUnlessNamed() {
    PlacementFixture fixture =
        new PlacementFixture(
            new SelectionPolicy(
                DeploymentMode.SELF_HOSTED, Isolation.CONTAINER, false, false, true),
            "e2b",
            "gvisor");
    assertThat(fixture.select(CreateRequest.auto(SPEC)).names()).containsExactly("gvisor");
    assertThat(fixture.select(CreateRequest.of(SPEC, "e2b")).names()).containsExactly("e2b");
  }
}
