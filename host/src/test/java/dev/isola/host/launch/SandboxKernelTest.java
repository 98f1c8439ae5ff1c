package dev.isola.host.launch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.LimitKind;
import dev.isola.spi.spec.ResourceLimits;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class SandboxKernelTest {
  @Test
  void hostCountsProcessesOfItsOwnKernelOnly() {
    Set<LimitKind> groups = Set.of(LimitKind.MEMORY, LimitKind.THREADS);
    assertThat(SandboxKernel.HOST.enforced(groups))
        .contains(LimitKind.MEMORY, LimitKind.THREADS, LimitKind.PROCESSES);
    assertThat(SandboxKernel.USER_SPACE.enforced(groups))
        .containsExactlyInAnyOrder(LimitKind.MEMORY, LimitKind.KERNEL_OBJECTS);
  }

  @Test
  void controlGroupAllowsWhatAKernelInUserSpaceNeeds() {
    ResourceLimits asked = ResourceLimits.DEFAULT;
    assertThat(SandboxKernel.HOST.groupLimits(asked)).isEqualTo(asked);
    ResourceLimits given = SandboxKernel.USER_SPACE.groupLimits(asked);
    assertThat(given.memoryMb()).isGreaterThan(asked.memoryMb());
    assertThat(given.threads()).isGreaterThan(asked.threads() + asked.processes());
    assertThat(SandboxKernel.USER_SPACE.groupLimits(asked.withThreads(1 << 22)).threads())
        .isEqualTo(1 << 22);
  }
}
