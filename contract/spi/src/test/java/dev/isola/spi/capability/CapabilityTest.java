package dev.isola.spi.capability;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.error.SandboxException;
import dev.isola.spi.error.Unsupported;
import org.junit.jupiter.api.Test;

/** P12: a missing feature is rejected by name. */
class CapabilityTest {

  @Test
  void allListsThePermittedInterfaces() {
    assertThat(Capability.all()).doesNotHaveDuplicates();
    assertThat(Capability.all().toArray())
        .containsExactlyInAnyOrder((Object[]) Capability.class.getPermittedSubclasses());
  }

  /** Stored specs and clients contain the ids: add rows, never change them. */
  @Test
  void idsAreStable() {
    assertThat(
            Capability.all().stream()
                .map(one -> Capability.idOf(one) + " " + one.getSimpleName())
                .toList())
        .containsExactly(
            "attaching Attaching",
            "terminals Terminals",
            "watching Watching",
            "port-dialing PortDialing",
            "usage-reporting UsageReporting",
            "pausing Pausing",
            "renewing Renewing",
            "snapshotting Snapshotting",
            "forking Forking",
            "memory-forking MemoryForking",
            "volumes Volumes");
  }

  @Test
  void implementationHasNoId() {
    assertThatThrownBy(() -> Capability.idOf(Capability.class))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void isFoundByItsId() {
    for (Class<? extends Capability> capability : Capability.all()) {
      assertThat(Capability.withId(Capability.idOf(capability)).orElseThrow())
          .isEqualTo(capability);
    }
    assertThat(Capability.withId("PortDialing")).isEmpty();
    assertThat(Capability.withId("")).isEmpty();
  }

  @Test
  void noCapabilityHasADefaultMethod() {
    for (Class<? extends Capability> capability : Capability.all()) {
      assertThat(capability.getMethods()).noneMatch(method -> method.isDefault());
    }
  }

  @Test
  void unsupportedErrorNamesProviderAndCapability() {
    SandboxException refusal = Capability.unsupported("subprocess", "pausing");

    assertThat(refusal).isInstanceOf(Unsupported.class).hasMessageContaining("pausing");
    assertThat(refusal.context())
        .containsEntry("provider", "subprocess")
        .containsEntry("capability", "pausing");
  }
}
