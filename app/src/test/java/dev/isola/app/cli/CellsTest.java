package dev.isola.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.app.remote.Progress;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class CellsTest {
  @Test
  void showsSizesAndTimesAsAPersonReadsThem() {
    assertThat(Cells.size(0)).isEqualTo("0 B");
    assertThat(Cells.size(1023)).isEqualTo("1023 B");
    assertThat(Cells.size(1536)).isEqualTo("1.5 KB");
    assertThat(Cells.size((1L << 20) - 1)).isEqualTo("1.0 MB");
    assertThat(Cells.size(150L << 20)).isEqualTo("150 MB");
    assertThat(Cells.size(Long.MAX_VALUE)).isEqualTo("8.0 EB");
    assertThat(Cells.time(Duration.ofSeconds(45))).isEqualTo("45s");
    assertThat(Cells.time(Duration.ofMinutes(3))).isEqualTo("3m");
    assertThat(Cells.time(Duration.ofHours(30))).isEqualTo("30h");
    assertThat(Cells.time(Duration.ofDays(3))).isEqualTo("3d");
    assertThat(Cells.time(Duration.ofSeconds(-5))).isEqualTo("0s");
  }

  @Test
  void letsNoTextFromElsewhereMoveTheCursor() {
    assertThat(Cells.text("a\u001b[2Jb\rc\n\u0007\u202e")).isEqualTo("a?[2Jb?c???");
    assertThat(Cells.brief("0123456789", 5)).isEqualTo("0123…");
  }

  @Test
  void showsHowFarACopyIs() {
    assertThat(Progress.line(50, 100, Duration.ofSeconds(1)))
        .isEqualTo("[###############---------------] 50%  50 B  50 B/s");
    assertThat(Progress.line(2048, -1, Duration.ofSeconds(2))).isEqualTo("2.0 KB  1.0 KB/s");
    assertThat(Progress.line(120, 100, Duration.ofSeconds(1))).contains("100%");
  }
}
