package dev.isola.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.app.remote.ProgressBar;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class CellFormatTest {
  @Test
  void formatsSizesAndTimes() {
    assertThat(CellFormat.size(0)).isEqualTo("0 B");
    assertThat(CellFormat.size(1023)).isEqualTo("1023 B");
    assertThat(CellFormat.size(1536)).isEqualTo("1.5 KB");
    assertThat(CellFormat.size((1L << 20) - 1)).isEqualTo("1.0 MB");
    assertThat(CellFormat.size(150L << 20)).isEqualTo("150 MB");
    assertThat(CellFormat.size(Long.MAX_VALUE)).isEqualTo("8.0 EB");
    assertThat(CellFormat.duration(Duration.ofSeconds(45))).isEqualTo("45s");
    assertThat(CellFormat.duration(Duration.ofMinutes(3))).isEqualTo("3m");
    assertThat(CellFormat.duration(Duration.ofHours(30))).isEqualTo("30h");
    assertThat(CellFormat.duration(Duration.ofDays(3))).isEqualTo("3d");
    assertThat(CellFormat.duration(Duration.ofSeconds(-5))).isEqualTo("0s");
  }

  @Test
  void replacesControlCharacters() {
    assertThat(CellFormat.text("a\u001b[2Jb\rc\n\u0007\u202e")).isEqualTo("a?[2Jb?c???");
    assertThat(CellFormat.truncated("0123456789", 5)).isEqualTo("0123…");
  }

  @Test
  void formatsTheProgressBar() {
    assertThat(ProgressBar.line(50, 100, Duration.ofSeconds(1)))
        .isEqualTo("[###############---------------] 50%  50 B  50 B/s");
    assertThat(ProgressBar.line(2048, -1, Duration.ofSeconds(2))).isEqualTo("2.0 KB  1.0 KB/s");
    assertThat(ProgressBar.line(120, 100, Duration.ofSeconds(1))).contains("100%");
  }
}
