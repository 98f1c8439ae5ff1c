package dev.isola.spi.capability;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.error.SandboxException;
import dev.isola.spi.error.Unsupported;
import org.junit.jupiter.api.Test;

/** P12: a missing feature is refused by name. */
class CapabilityTest {

  @Test
  void allIsTheSealedSet() {
    assertThat(Capability.all()).doesNotHaveDuplicates();
    assertThat(Capability.all().toArray())
        .containsExactlyInAnyOrder((Object[]) Capability.class.getPermittedSubclasses());
  }

  @Test
  void namesAreLowerCaseWithDashes() {
    assertThat(Capability.all())
        .map(Capability::nameOf)
        .containsExactly(
            "attaching",
            "terminals",
            "watching",
            "port-dialing",
            "usage-reporting",
            "pausing",
            "renewing",
            "snapshotting",
            "forking");
  }

  @Test
  void isFoundByItsName() {
    for (Class<? extends Capability> capability : Capability.all()) {
      assertThat(Capability.named(Capability.nameOf(capability)).orElseThrow())
          .isEqualTo(capability);
    }
    assertThat(Capability.named("PortDialing")).isEmpty();
    assertThat(Capability.named("")).isEmpty();
  }

  @Test
  void noCapabilityHasADefaultMethod() {
    for (Class<? extends Capability> capability : Capability.all()) {
      assertThat(capability.getMethods()).noneMatch(method -> method.isDefault());
    }
  }

  @Test
  void theRefusalNamesProviderAndCapability() {
    SandboxException refusal = Capability.unsupported("subprocess", "pausing");

    assertThat(refusal).isInstanceOf(Unsupported.class).hasMessageContaining("pausing");
    assertThat(refusal.context())
        .containsEntry("provider", "subprocess")
        .containsEntry("capability", "pausing");
  }
}
