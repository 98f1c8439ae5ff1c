package dev.isola.host.launch;

import dev.isola.host.cgroup.ControlGroup;
import dev.isola.host.cgroup.ControlGroups;
import dev.isola.link.local.SandboxFreezer;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;

/** Freezes sandboxes through their control groups. */
public record CgroupFreezer(ControlGroups groups, InstanceId instance) implements SandboxFreezer {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  /** Returns the freezer of an instance; empty on a host whose control groups cannot freeze. */
  public static Optional<SandboxFreezer> find(ControlGroups groups, InstanceId instance) {
    return groups.canFreeze() ? Optional.of(new CgroupFreezer(groups, instance)) : Optional.empty();
  }

  private ControlGroup group(SandboxId id) {
    return groups.group(instance, id);
  }

  @Override
  public void freeze(SandboxId id) throws IOException {
    group(id).freeze(TIMEOUT);
  }

  @Override
  public void thaw(SandboxId id) throws IOException {
    group(id).thaw();
  }

  @Override
  public boolean isFrozen(SandboxId id) {
    return group(id).frozen();
  }
}
