package dev.isola.host.program;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class PackageOriginTest {
  @Test
  void distributionIsDetectedByFolder() {
    assertThat(PackageOrigin.isFromDistribution(Path.of("/usr/bin/crun"))).isTrue();
    assertThat(PackageOrigin.isFromDistribution(Path.of("/usr/local/bin/crun"))).isFalse();
    assertThat(PackageOrigin.isFromDistribution(Path.of("crun"))).isFalse();
  }

  @Test
  void distributionIsDetectedByVersionSuffix() {
    assertThat(
            PackageOrigin.isFromDistribution("runc version 1.1.5+ds1\ncommit: 1.1.5+ds1-1+deb12u1"))
        .isTrue();
    assertThat(PackageOrigin.isFromDistribution("runc version 1.1.7-0ubuntu1")).isTrue();
    assertThat(PackageOrigin.isFromDistribution("runc version 1.1.5\ncommit: v1.1.5-0-gf19387a6"))
        .isFalse();
  }
}
