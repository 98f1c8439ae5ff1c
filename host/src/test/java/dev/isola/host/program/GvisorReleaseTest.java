package dev.isola.host.program;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GvisorReleaseTest {
  private static final String HOST =
      "Linux version 6.12.9+deb13-amd64 (debian-kernel@lists.debian.org) (gcc-14) #1 SMP"
          + " PREEMPT_DYNAMIC Debian 6.12.9-1 (2025-01-10)";

  private static GvisorRelease release(String answer) {
    return GvisorRelease.of(answer).orElseThrow();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016",
        "Linux version 4.19.0-gvisor #1 SMP Sun Jan 10 15:06:54 PST 2016",
        "Linux version 5.15.0-gvisor #1 SMP Sun Jan 10 15:06:54 PST 2016",
        "Linux version 6.12.0-gvisor #1 SMP Mon Jan 5 10:00:00 UTC 2026",
        "Linux version 6.12.0 #1 SMP Sun Jan 10 15:06:54 PST 2016",
      })
  void kernelsOfAllReleasesAreDetected(String inside) {
    assertThat(GvisorRelease.isKernel(inside, HOST)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        HOST,
        "",
        "gvisor",
        "Linux version 4.4.0-210-generic (buildd@lgw01) (gcc 5.4.0) #242-Ubuntu SMP",
        "Linux version 4.4.0 (me@home) (gcc) #1 SMP Sun Jan 10 15:06:54 PST 2016",
        "Linux version 6.12.22 (@ee5a5a) (gcc) #1 SMP",
        "Linux version 6.12.22 (root@build-gvisor) (gcc) #1 SMP",
        "Linux version 6.12.22 #1 SMP not-gvisor",
      })
  void otherKernelsAreNotDetected(String inside) {
    assertThat(GvisorRelease.isKernel(inside, HOST)).isFalse();
  }

  @Test
  void hostKernelNamedGvisorIsNotDetected() {
    String host = "Linux version 5.15.0-gvisor (me@home) (gcc) #7 SMP";
    assertThat(GvisorRelease.isKernel(host, host)).isFalse();
    assertThat(GvisorRelease.isKernel(host, "5.15.0-gvisor")).isFalse();
    assertThat(GvisorRelease.isKernel("Linux version 5.15.0-gvisor #1 SMP", host)).isFalse();
    assertThat(GvisorRelease.isKernel("Linux version 5.15.0-gvisor #1 SMP", "")).isFalse();
  }

  @Test
  void releaseOfDebian12IsDefectiveAndCurrentOnesAreNot() {
    GvisorRelease old = release("runsc version 0.0~20221219.0\nspec: 1.0.2-dev");
    assertThat(old.defect()).get().asString().contains("ls and stat", "20221219", "no terminals");
    assertThat(old.hasTerminals()).isFalse();
    GvisorRelease current = release("runsc version release-20260831.0\nspec: 1.2.0");
    assertThat(current.defect()).isEmpty();
    assertThat(current.hasTerminals()).isTrue();
    assertThat(release("runsc version release-20230904.0").defect()).isEmpty();
    assertThat(GvisorRelease.of("runc version 1.1.5")).isEmpty();
  }
}
