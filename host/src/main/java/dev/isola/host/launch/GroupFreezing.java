package dev.isola.host.launch;

import dev.isola.host.cgroup.ControlGroup;
import dev.isola.link.local.Freezing;
import java.io.IOException;
import java.time.Duration;

/** Freezes a sandbox by its control group. */
record GroupFreezing(ControlGroup group, Duration patience) implements Freezing {
  @Override
  public void freeze() throws IOException {
    group.freeze(patience);
  }

  @Override
  public void thaw() throws IOException {
    group.thaw();
  }

  @Override
  public boolean frozen() {
    return group.frozen();
  }
}
