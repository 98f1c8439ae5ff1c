package dev.isola.provider.oci;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.regex.Matcher;
import org.junit.jupiter.api.Test;

class RuntimeVersionTest {
  private static String found(OciRuntime runtime, String answer) {
    Matcher matcher = runtime.versionPattern().matcher(answer);
    return matcher.find() ? matcher.group(1) : "none";
  }

  @Test
  void versionIsParsedFromRuntimeOutput() {
    GvisorRuntime gvisor = new GvisorRuntime(Optional::empty);
    assertThat(found(new CrunRuntime(), "crun version 1.8.1\ncommit: f8a0")).isEqualTo("1.8.1");
    assertThat(found(new RuncRuntime(), "runc version 1.1.5+ds1\ncommit: x"))
        .isEqualTo("1.1.5+ds1");
    assertThat(found(gvisor, "runsc version 0.0~20221219.0\nspec: 1.0.2-dev"))
        .isEqualTo("20221219.0");
    assertThat(found(gvisor, "runsc version release-20240729.0\nspec: 1.1.0"))
        .isEqualTo("20240729.0");
    assertThat(found(gvisor, "runc version 1.1.5")).isEqualTo("none");
    assertThat(found(new RuncRuntime(), "crun version 1.8.1")).isEqualTo("none");
  }
}
