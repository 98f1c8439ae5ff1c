package dev.isola.conformance.escape;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AnswerTest {
  @Test
  void isOneLineThatStartsWithAWord() {
    assertThat(Answer.parse("got: read /x\n")).contains(Answer.got("read /x"));
    assertThat(Answer.parse("refused: kill: EPERM\n")).contains(Answer.refused("kill: EPERM"));
    assertThat(Answer.parse("absent: /dev/kvm: ENOENT\n"))
        .contains(new Answer(Answer.Word.ABSENT, "/dev/kvm: ENOENT"));
    assertThat(Answer.got("read /x")).hasToString("got: read /x");
  }

  /** What a sandbox writes may be anything; only an answer counts as one. */
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
  void otherOutputIsNone(String output) {
    assertThat(Answer.parse(output)).isEmpty();
  }

  @Test
  void isNotLong() {
    assertThat(Answer.parse("refused: " + "x".repeat(1000))).isEmpty();
  }
}
