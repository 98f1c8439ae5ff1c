package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.testing.program.ProgramResult;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A1: egress rules and secrets through E2B's published Python SDK, on a server with filtered
 * networks. NOT RUN if Python, pip, the SDK or bubblewrap is not available.
 */
@Timeout(240)
@Tag("all")
class E2bNetworkSdkTest {
  @TempDir Path data;

  @Test
  void sdkControlsEgressAndSecrets() throws IOException, InterruptedException {
    Path python = E2bPackages.python();
    try (E2bSdkFixture fixture = E2bSdkFixture.open(data, "e2b.network=filtered")) {
      ProgramResult ended =
          fixture.program(
              E2bSdkFixture.PROGRAMS.resolve("python"),
              python.toString(),
              "-B",
              "-m",
              "unittest",
              "test_network");
      assertThat(ended.code()).as(ended.output()).isZero();
      assertThat(ended.output()).contains("Ran 3 tests").endsWith("\nOK\n");
    }
  }
}
