package dev.isola.host.image;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.link.MachineArchitecture;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The constants of Linux that differ between architectures. */
class NativeFilesTest {
  @ParameterizedTest
  @CsvSource({
    "amd64, 0x10000, 217",
    "x86_64, 0x10000, 217",
    "aarch64, 0x4000, 61",
    "arm64, 0x4000, 61"
  })
  void constantsAreThoseOfTheArchitecture(String name, int directory, long getdents64) {
    MachineArchitecture architecture = MachineArchitecture.of(name);
    assertThat(NativeFiles.directoryFlag(architecture)).isEqualTo(directory);
    assertThat(NativeFiles.getdents64(architecture)).isEqualTo(getdents64);
  }
}
