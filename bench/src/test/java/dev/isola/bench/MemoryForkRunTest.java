package dev.isola.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionId;
import dev.isola.testing.provider.TestProviderFactory;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** How the benchmark recognizes an interpreter that continues; no provider forks it here. */
class MemoryForkRunTest {
  @Test
  void interpreterIsRecognizedByTheChecksumOfItsMemory() throws IOException, InterruptedException {
    try (BenchProvider provider = BenchProvider.of(new TestProviderFactory())) {
      Sandbox sandbox = provider.sandbox();
      ExecutionId id;
      String checksum;
      try (Execution interpreter = MemoryForkRun.startInterpreter(sandbox, 1000)) {
        id = interpreter.id();
        checksum = MemoryForkRun.line(interpreter);
      }
      assertThat(checksum).matches("[0-9]+");
      assertThat(MemoryForkRun.continues(sandbox, id, checksum)).isTrue();
      assertThat(MemoryForkRun.continues(sandbox, id, "1" + checksum)).isFalse();
    }
  }
}
