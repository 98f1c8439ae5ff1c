package dev.isola.provider.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.isola.link.AgentBinary;
import dev.isola.link.MachineArchitecture;
import dev.isola.spi.Bytes;
import dev.isola.spi.InstanceId;
import dev.isola.spi.error.ProviderUnavailable;
import org.junit.jupiter.api.Test;

/** The agent for nodes of an architecture. */
class AgentConfigMapTest {
  private static final InstanceId INSTANCE = new InstanceId("i1");

  @Test
  void containsTheAgentForTheArchitectureOfTheNode() {
    MachineArchitecture own = MachineArchitecture.ofHost();
    assertThat(AgentConfigMap.ownArchitecture()).isEqualTo(own.image());
    assertThat(AgentConfigMap.of(INSTANCE, own.image()).program())
        .isEqualTo(Bytes.of(AgentBinary.content(own.machine())));
  }

  @Test
  void unsupportedArchitectureIsRefused() {
    assertThatExceptionOfType(ProviderUnavailable.class)
        .isThrownBy(() -> AgentConfigMap.of(INSTANCE, "s390x"))
        .withMessageContaining("'s390x' is not supported");
  }
}
