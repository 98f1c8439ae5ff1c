package dev.isola.codec.proc;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProcessStatTest {
  private static final String FROM_PARENT =
      " 7 8 9 0 -1 4194304 1 2 3 4 10 20 30 40 -2 -20 5 0 123456789012 4096 77 1\n";

  @Test
  void fieldsAreThoseOfProc() {
    assertThat(ProcessStat.parse("1 (init) S" + FROM_PARENT))
        .contains(new ProcessStat('S', 7, 9, 5, 123_456_789_012L));
  }

  @Test
  void processNameCannotSpoofFields() {
    String name = "a) Z 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 (b\n) R 2 2";
    assertThat(ProcessStat.parse("1 (" + name + ") T" + FROM_PARENT))
        .contains(new ProcessStat('T', 7, 9, 5, 123_456_789_012L));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "1",
        "1 (a",
        "1 (a)",
        "1 (a) ",
        "1 (a) S 7 8 9",
        "1 (a) SS 7 8 9 0 -1 4194304 1 2 3 4 10 20 30 40 -2 -20 5 0 123 4096 77",
        "1 (a) S 7 8 x 0 -1 4194304 1 2 3 4 10 20 30 40 -2 -20 5 0 123 4096 77",
        "1 (a) S 7 8 9 0 -1 4194304 1 2 3 4 10 20 30 40 -2 -20 99999999999 0 123 4096 77"
      })
  void malformedTextIsEmpty(String text) {
    assertThat(ProcessStat.parse(text)).isEmpty();
  }

  @Test
  void readsThisProcessAndNoMissingOne() {
    ProcessStat self = ProcessStat.read(Path.of("/proc/self")).orElseThrow();
    assertThat(self.parent())
        .isEqualTo(ProcessHandle.current().parent().map(ProcessHandle::pid).orElse(0L));
    assertThat(self.isZombie()).isFalse();
    assertThat(self.threads()).isGreaterThan(1);
    assertThat(self.startTime()).isPositive();
    assertThat(ProcessStat.read(Path.of("/proc/none"))).isEmpty();
  }
}
