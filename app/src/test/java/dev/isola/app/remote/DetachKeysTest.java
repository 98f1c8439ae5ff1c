package dev.isola.app.remote;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DetachKeysTest {
  private final DetachKeys keys = new DetachKeys();

  /** In these texts ^ stands for Ctrl-P, ! for Ctrl-Q and / for Enter. */
  private String type(String text) {
    byte[] typed =
        text.replace('^', '\u0010')
            .replace('!', '\u0011')
            .replace('/', '\r')
            .getBytes(StandardCharsets.UTF_8);
    return new String(keys.filter(typed, typed.length), StandardCharsets.UTF_8)
        .replace('\u0010', '^')
        .replace('\u0011', '!')
        .replace('\r', '/');
  }

  @ParameterizedTest
  @CsvSource({
    "ls -l/, ls -l/",
    "a~.b, a~.b",
    "~/x, ~/x",
    "~~., ~.",
    "^a, ^a",
    "^^a, ^^a",
    "!^a, !^a",
    "a.~/, a.~/",
  })
  void passesOtherKeys(String typed, String passed) {
    assertThat(type(typed)).isEqualTo(passed);
    assertThat(keys.detached()).isFalse();
  }

  @ParameterizedTest
  @CsvSource({"~., ''", "ls/~.rest, ls/", "a^!rest, a", "^^!, ^"})
  void detachesOnTheKeySequence(String typed, String passed) {
    assertThat(type(typed)).isEqualTo(passed);
    assertThat(keys.detached()).isTrue();
  }

  @Test
  void detachesOnASplitKeySequence() {
    assertThat(type("ls/~")).isEqualTo("ls/");
    assertThat(keys.detached()).isFalse();
    assertThat(type(".")).isEmpty();
    assertThat(keys.detached()).isTrue();
  }
}
