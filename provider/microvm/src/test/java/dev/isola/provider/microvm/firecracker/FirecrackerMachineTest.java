package dev.isola.provider.microvm.firecracker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.link.MachineArchitecture;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The kernel command line and the clock on each architecture. */
class FirecrackerMachineTest {
  @ParameterizedTest
  @CsvSource({"amd64, true", "x86_64, true", "aarch64, false", "arm64, false"})
  void onlyX86HasAKeyboardControllerAndAClockThatContinues(String name, boolean x86) {
    MachineArchitecture architecture = MachineArchitecture.of(name);
    assertThat(FirecrackerMachine.continuesClock(architecture)).isEqualTo(x86);
    assertThat(FirecrackerMachine.kernelCommandLine(architecture).contains("i8042")).isEqualTo(x86);
    assertThat(FirecrackerMachine.kernelCommandLine(architecture))
        .endsWith(" isola.channel=vsock:" + FirecrackerFolder.AGENT_PORT);
  }
}
