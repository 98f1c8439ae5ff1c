package dev.isola.testing.runner;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ProcessorTimeTest {
  private static final List<String> COMPUTE =
      List.of("sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done; exit 3");

  @Test
  void aChildCountsWhenItWasWaitedFor() throws IOException, InterruptedException {
    double before = ProcessorTime.of(ProcessHandle.current().pid());
    assertThat(new ProcessBuilder(COMPUTE).start().waitFor()).isEqualTo(3);
    assertThat(ProcessorTime.of(ProcessHandle.current().pid()) - before).isPositive();
  }

  @Test
  void aProcessThatIsGoneHasNone() {
    assertThat(ProcessorTime.of(Long.MAX_VALUE)).isZero();
  }

  @Test
  void aCommandIsTimedAndKeepsItsStatus(@TempDir Path folder)
      throws IOException, InterruptedException {
    Path times = folder.resolve("times");
    assertThat(ProcessorTime.of(times)).isZero();
    List<String> command = ProcessorTime.recorded(COMPUTE, times);
    assertThat(new ProcessBuilder(command).start().waitFor()).isEqualTo(3);
    assertThat(ProcessorTime.of(times)).isPositive();
  }
}
