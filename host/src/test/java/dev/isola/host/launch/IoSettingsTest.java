package dev.isola.host.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.host.cgroup.ControlGroups;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.Prerequisite;
import dev.isola.spi.provider.ProviderConfig;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The operator's limits on disk throughput. */
final class IoSettingsTest {
  private static final ControlGroups NO_GROUPS = ControlGroups.parse("", "", path -> "");

  @TempDir Path folder;

  private static IoSettings of(String name, String value) {
    return IoSettings.of(new ProviderConfig(Map.of(name, value)));
  }

  @Test
  void noLimitsByDefault() throws IOException {
    IoSettings none = IoSettings.of(ProviderConfig.EMPTY);
    assertThat(none.areSet()).isFalse();
    assertThat(none.limit(folder)).isEmpty();
    assertThat(none.obstacle(folder, NO_GROUPS)).isEmpty();
  }

  @Test
  void eachLimitCanBeSet() {
    assertThat(of("io_bytes_per_second", "1048576")).isEqualTo(new IoSettings(1_048_576, 0));
    assertThat(of("io_operations_per_second", " 200 ")).isEqualTo(new IoSettings(0, 200));
  }

  @Test
  void invalidNumberIsRejectedWithItsName() {
    for (String text : new String[] {"10M", "-1", "", "1e6", "9999999999999999"}) {
      assertThatThrownBy(() -> of("io_bytes_per_second", text))
          .isInstanceOf(SandboxException.class)
          .hasMessageContaining("io_bytes_per_second");
    }
  }

  @Test
  void unenforceableLimitIsReported() {
    Prerequisite line = of("io_bytes_per_second", "1").prerequisite(folder, NO_GROUPS);
    assertThat(line.present()).isFalse();
    assertThat(line.necessary()).isTrue();
    assertThat(line.fix()).contains("io_bytes_per_second");
  }
}
