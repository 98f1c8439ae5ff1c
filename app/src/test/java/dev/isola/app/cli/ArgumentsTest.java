package dev.isola.app.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.isola.spi.spec.VolumeMount;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ArgumentsTest {
  @ParameterizedTest
  @CsvSource({
    "30s, PT30S",
    "5m, PT5M",
    "1h30m, PT1H30M",
    "500ms, PT0.5S",
    "90, PT1M30S",
    "1d, PT24H",
    "1m500ms, PT1M0.5S"
  })
  void parsesDurations(String text, Duration duration) {
    assertThat(Arguments.duration("--timeout", text)).isEqualTo(duration);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "s",
        "5x",
        "-5s",
        "1m30",
        "1.5s",
        "0",
        "0s",
        " 5s",
        "5 s",
        "9223372036854775807h",
        "99999999999999999999"
      })
  void rejectsInvalidDurations(String text) {
    assertThatExceptionOfType(UsageException.class)
        .isThrownBy(() -> Arguments.duration("--timeout", text))
        .withMessage("--timeout '" + text + "' is not a duration");
  }

  @ParameterizedTest
  @CsvSource({
    "512, 512",
    "512m, 512",
    "512MB, 512",
    "2g, 2048",
    "2G, 2048",
    "2GiB, 2048",
    "1.5g, 1536",
    "0.5g, 512",
    "1t, 1048576"
  })
  void parsesMegabytes(String text, long megabytes) {
    assertThat(Arguments.megabytes("--memory", text)).isEqualTo(megabytes);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "g", "2x", "-1", "1.5", "0", "0g", "0.0001m", "2 g", "2gg", "1e3", "١"})
  void rejectsInvalidMegabytes(String text) {
    assertThatExceptionOfType(UsageException.class)
        .isThrownBy(() -> Arguments.megabytes("--memory", text))
        .withMessage("--memory '" + text + "' is not a size");
  }

  @Test
  void parsesMounts() {
    assertThat(Arguments.mount("--mount", "/a:/b")).isEqualTo(VolumeMount.bind("/a", "/b", false));
    assertThat(Arguments.mount("--mount", "/a:/b:ro"))
        .isEqualTo(VolumeMount.bind("/a", "/b", true));
    assertThat(Arguments.mount("--mount", "/a:/b:rw"))
        .isEqualTo(VolumeMount.bind("/a", "/b", false));
    assertThat(Arguments.mount("--mount", "/a:1:/b"))
        .isEqualTo(VolumeMount.bind("/a:1", "/b", false));
    assertThat(Arguments.mount("--mount", "a/../b:/c"))
        .isEqualTo(VolumeMount.bind(Path.of("b").toAbsolutePath().toString(), "/c", false));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "/a", ":/b", "/a:", "/a:ro", ":"})
  void rejectsInvalidMounts(String text) {
    assertThatExceptionOfType(UsageException.class)
        .isThrownBy(() -> Arguments.mount("--mount", text));
  }

  @Test
  void parsesVariables() {
    assertThat(Arguments.variables("--env", List.of("A=1", "B=", "C=x=y", "A=2")))
        .isEqualTo(Map.of("A", "2", "B", "", "C", "x=y"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "A", "=1"})
  void rejectsInvalidVariables(String text) {
    assertThatExceptionOfType(UsageException.class)
        .isThrownBy(() -> Arguments.variables("--env", List.of(text)));
  }
}
