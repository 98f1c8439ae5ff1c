package dev.isola.provider.bubblewrap;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The number of CPUs that the C library reports, for example to Python's os.cpu_count. */
final class ProcessorViewTest extends ForkTestBase {
  private Sandbox with(String id, double cores) {
    return provider.create(
        SandboxSpec.builder(new SandboxId(id))
            .deadline(Duration.ofMinutes(10))
            .limits(ResourceLimits.DEFAULT.withCpu(cores))
            .build());
  }

  @Test
  void visibleCpusMatchTheLimit() {
    int host = Runtime.getRuntime().availableProcessors();
    Sandbox one = with("one", 0.5);
    Sandbox all = with("all", host);
    try {
      assertThat(output(one, "getconf _NPROCESSORS_ONLN")).isEqualTo("1\n");
      assertThat(output(one, "nproc")).isEqualTo("1\n");
      assertThat(output(all, "getconf _NPROCESSORS_ONLN")).isEqualTo(host + "\n");
      assertThat(output(all, "nproc")).isEqualTo(host + "\n");
    } finally {
      provider.destroy(one.id(), DestroyOptions.FORCE);
      provider.destroy(all.id(), DestroyOptions.FORCE);
    }
    assertThat(leaks.leakedSince(before)).isEmpty();
  }
}
