package dev.isola.provider.bubblewrap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.isola.spi.DestroyOptions;
import dev.isola.spi.LimitKind;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.spec.SandboxSpec;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The agent has a higher priority than the commands of its sandbox, which have the default. */
final class AgentPriorityTest extends ForkTestBase {
  @Test
  void agentHasAHigherPriorityThanCommands() {
    assumeTrue(
        provider.info().support().enforcedLimits().contains(LimitKind.CPU)
            && System.getProperty("user.name").equals("root"),
        "NOT RUN: a sandbox has no share of the processors of its own here");
    Sandbox sandbox =
        provider.create(
            SandboxSpec.builder(new SandboxId("priority"))
                .deadline(Duration.ofMinutes(10))
                .build());
    try {
      assertThat(output(sandbox, "cut -d ' ' -f 19 /proc/1/stat")).isEqualTo("-20\n");
      assertThat(output(sandbox, "nice")).isEqualTo("0\n");
      assertThat(output(sandbox, "nice -n -5 nice 2>/dev/null")).isEqualTo("0\n");
    } finally {
      provider.destroy(sandbox.id(), DestroyOptions.FORCE);
    }
    assertThat(leaks.leakedSince(before)).isEmpty();
  }
}
