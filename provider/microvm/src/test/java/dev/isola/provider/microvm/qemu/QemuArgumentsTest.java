package dev.isola.provider.microvm.qemu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.link.MachineArchitecture;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** QEMU's program, machine and processor on each architecture. */
class QemuArgumentsTest {
  @ParameterizedTest
  @CsvSource({
    "amd64, qemu-system-x86_64, 'max,cx16=off', console=ttyS0 reboot=t no5lvl quiet",
    "x86_64, qemu-system-x86_64, 'max,cx16=off', console=ttyS0 reboot=t no5lvl quiet",
    "aarch64, qemu-system-aarch64, max, console=ttyAMA0 quiet",
    "arm64, qemu-system-aarch64, max, console=ttyAMA0 quiet"
  })
  void fitTheArchitecture(String name, String program, String emulated, String console) {
    MachineArchitecture architecture = MachineArchitecture.of(name);
    assertThat(QemuProgram.name(architecture)).isEqualTo(program);
    assertThat(Accelerator.EMULATION.processor(architecture)).isEqualTo(emulated);
    assertThat(Accelerator.KVM.processor(architecture)).isEqualTo("host");
    assertThat(QemuArguments.kernelCommandLine(architecture, false)).startsWith(console + " ");
  }
}
