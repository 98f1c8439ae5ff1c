package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.testing.program.ProgramResult;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * One sandbox attacks the server and the kernel for a minute: another one is not slowed down beyond
 * three times, and the host's limits stay free ({@code testing/egress/neighbour.py}).
 */
@Tag("long")
@Timeout(900)
class NeighbourTest {
  private static final String SECONDS = System.getProperty("isola.neighbour.seconds", "60");

  @TempDir private Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"tree", "tcp_memory", "kernel_objects", "sparse", "lookups"})
  void attacksOfOneSandboxLeaveOthersAlone(String attack) throws IOException, InterruptedException {
    ProgramResult ended =
        TestInternet.run(
            folder, Duration.ofMinutes(14), "neighbour", SECONDS, "bubblewrap", attack);
    System.out.println(ended.output());
    assertThat(ended.output()).contains("1 passed, 0 failed");
    assertThat(ended.code()).as(ended.output()).isZero();
  }
}
