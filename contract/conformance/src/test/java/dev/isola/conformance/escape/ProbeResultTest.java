package dev.isola.conformance.escape;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProbeResultTest {
  @Test
  void parsesOneLineWithAVerdict() {
    assertThat(ProbeResult.parse("got: read /x\n")).contains(ProbeResult.got("read /x"));
    assertThat(ProbeResult.parse("refused: kill: EPERM\n"))
        .contains(ProbeResult.refused("kill: EPERM"));
    assertThat(ProbeResult.parse("absent: /dev/kvm: ENOENT\n"))
        .contains(new ProbeResult(ProbeResult.Verdict.ABSENT, "/dev/kvm: ENOENT"));
    assertThat(ProbeResult.got("read /x")).hasToString("got: read /x");
  }

  /** A sandbox may print anything; only a well-formed result is accepted. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "got",
        "sh: 1: ELF: not found",
        "GOT: read",
        "refused: a\ngot: b",
        "line\nrefused: b"
      })
  void rejectsOtherOutput(String output) {
    assertThat(ProbeResult.parse(output)).isEmpty();
  }

  @Test
  void rejectsLongOutput() {
    assertThat(ProbeResult.parse("refused: " + "x".repeat(1000))).isEmpty();
  }
}
