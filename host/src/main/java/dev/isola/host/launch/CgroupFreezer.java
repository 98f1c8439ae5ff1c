package dev.isola.host.launch;

import dev.isola.host.cgroup.ControlGroup;
import dev.isola.link.local.SandboxFreezer;
import java.io.IOException;
import java.time.Duration;

/** Freezes a sandbox through its control group. */
public record CgroupFreezer(ControlGroup group, Duration timeout) implements SandboxFreezer {
  @Override
  public void freeze() throws IOException {
    group.freeze(timeout);
  }

  @Override
  public void thaw() throws IOException {
    group.thaw();
  }

  @Override
  public boolean isFrozen() {
    return group.frozen();
  }
}
