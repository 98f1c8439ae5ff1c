package dev.isola.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

class ReportTest {
  @Test
  void hasExactlyTheseFields() {
    Report report =
        new Report(
            List.of(
                new Result("exec", "raw", 8, 2000, 0.123456, 1, 1.0e9, OptionalDouble.of(1.23456)),
                new Result("exec", "x", 1, 5, 2, 3, 4.26, OptionalDouble.empty())),
            List.of(new Absent("cp", "not installed")),
            Map.of("cpus", 2));
    assertThat(report.json().toString())
        .isEqualTo(
            "{results=[{benchmark=exec, subject=raw, concurrency=8, n=2000, medianMs=0.1235,"
                + " p99Ms=1, perSecond=1000000000, ratio=Optional[1.235]},"
                + " {benchmark=exec, subject=x, concurrency=1, n=5, medianMs=2, p99Ms=3,"
                + " perSecond=4.3, ratio=Optional.empty}],"
                + " absent=[{subject=cp, reason=not installed}], machine={cpus=2}}");
  }

  @Test
  void tellsTheMachine() {
    assertThat(new Machine().json())
        .containsKeys("cpus", "memory", "kernel", "architecture", "java", "loadBefore");
  }
}
