package dev.isola.conformance.escape;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Where the probes for an architecture are. */
class ProbeProgramTest {
  @ParameterizedTest
  @CsvSource({
    "amd64, x86_64",
    "x86_64, x86_64",
    "aarch64, aarch64",
    "arm64, aarch64",
    "riscv64, riscv64"
  })
  void isFoundByTheNameThatMakeGivesIt(String name, String machine) {
    assertThat(ProbeProgram.resource(name))
        .isEqualTo("META-INF/isola/conformance/linux-" + machine + "/isola-probe");
  }
}
