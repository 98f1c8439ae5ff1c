package dev.isola.host.program;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class VersionTest {
  @Test
  void versionsCompareNumerically() {
    assertThat(Version.of("1.1.5+ds1")).isLessThan(Version.of("1.1.12"));
    assertThat(Version.of("1.1.12")).isEqualByComparingTo(Version.of("1.1.12"));
    assertThat(Version.of("1.2")).isGreaterThan(Version.of("1.1.12"));
    assertThat(Version.of("1.4.0-rc.1")).isEqualByComparingTo(Version.of("1.4"));
    assertThat(Version.of("20240729.0")).isGreaterThan(Version.of("20221219"));
  }
}
