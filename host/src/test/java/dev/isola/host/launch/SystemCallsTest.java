package dev.isola.host.launch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.link.MachineArchitecture;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Seccomp filters of OCI runtimes. */
class SystemCallsTest {
  @ParameterizedTest
  @CsvSource({
    "amd64, SCMP_ARCH_X86_64",
    "x86_64, SCMP_ARCH_X86_64",
    "aarch64, SCMP_ARCH_AARCH64",
    "arm64, SCMP_ARCH_AARCH64"
  })
  void filterIsForTheArchitecture(String name, String expected) {
    assertThat(SystemCalls.architecture(MachineArchitecture.of(name))).isEqualTo(expected);
  }
}
