package dev.isola.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.isola.spi.error.ProviderUnavailable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The names of architectures. */
class MachineArchitectureTest {
  @ParameterizedTest
  @CsvSource({
    "amd64, X86_64, x86_64, amd64",
    "x86_64, X86_64, x86_64, amd64",
    "AMD64, X86_64, x86_64, amd64",
    "aarch64, AARCH64, aarch64, arm64",
    "arm64, AARCH64, aarch64, arm64"
  })
  void hasOneNameForTheMachineAndOneForImages(
      String name, MachineArchitecture architecture, String machine, String image) {
    assertThat(MachineArchitecture.of(name)).isEqualTo(architecture);
    assertThat(architecture.machine()).isEqualTo(machine);
    assertThat(architecture.image()).isEqualTo(image);
  }

  @ParameterizedTest
  @ValueSource(strings = {"riscv64", "x86", "arm", ""})
  void unsupportedNameIsRefusedWithTheSupportedOnes(String name) {
    assertThat(MachineArchitecture.find(name)).isEmpty();
    assertThatExceptionOfType(ProviderUnavailable.class)
        .isThrownBy(() -> MachineArchitecture.of(name))
        .satisfies(
            e -> {
              assertThat(e.fault().problem()).contains("'" + name + "' is not supported");
              assertThat(e.fault().remedy()).contains("x86_64, aarch64");
            });
  }

  @Test
  void agentIsEmbeddedForThisMachine() {
    assertThat(AgentBinary.content(MachineArchitecture.ofHost().machine())).isNotEmpty();
  }
}
