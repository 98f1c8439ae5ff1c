package dev.isola.codec.proc;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MemoryInfoTest {
  @TempDir Path proc;

  @Test
  void readsTotalAndAvailableMemory() throws Exception {
    Files.writeString(
        proc.resolve("meminfo"),
        "MemTotal:       24576000 kB\nMemFree: 1024 kB\nMemAvailable:   2048000 kB\n");
    assertThat(MemoryInfo.read(proc))
        .isEqualTo(
            new MemoryInfo(
                OptionalLong.of(24_576_000L * 1024), OptionalLong.of(2_048_000L * 1024)));
  }

  @Test
  void missingFieldsAreEmpty() {
    MemoryInfo nothing = new MemoryInfo(OptionalLong.empty(), OptionalLong.empty());
    assertThat(MemoryInfo.read(proc)).isEqualTo(nothing);
    assertThat(MemoryInfo.parse("MemTotal: many kB\nMemAvailable: 12 MB\n")).isEqualTo(nothing);
    assertThat(MemoryInfo.parse("MemTotal: 8 kB\n").total()).hasValue(8192);
  }
}
