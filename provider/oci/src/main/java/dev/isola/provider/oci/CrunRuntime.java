package dev.isola.provider.oci;

import dev.isola.host.launch.Containment;
import dev.isola.host.launch.Isolator;
import dev.isola.host.launch.Isolator.RunningSandbox;
import dev.isola.host.launch.Isolator.StagedSandbox;
import dev.isola.host.launch.Isolator.Traits;
import dev.isola.host.launch.LaunchPlan;
import dev.isola.host.program.Version;
import dev.isola.spi.Isolation;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** crun, run without cgroup management, because the sandbox has already joined its own cgroups. */
final class CrunRuntime implements OciRuntime {
  static final String NAME = "crun";

  @Override
  public Traits traits() {
    return new Traits(
        NAME,
        "kernel namespaces with crun; no daemon, requires root",
        Isolation.CONTAINER,
        "pid namespace: the kernel kills all processes when the agent exits",
        Duration.ofMillis(30));
  }

  @Override
  public String program() {
    return NAME;
  }

  @Override
  public Pattern versionPattern() {
    return Pattern.compile("crun version (\\S+)");
  }

  /** Hides cgroups, because crun rejects hybrid hosts even if it does not use cgroups. */
  @Override
  public void prepare(LaunchPlan plan, StagedSandbox staged) {
    plan.step("cover", "/sys/fs/cgroup");
  }

  /** Mounts the boot id. runc refuses mounts in /proc. */
  @Override
  public List<Map<String, Object>> mounts(StagedSandbox staged, Version version) {
    return List.of(
        Map.of(
            "destination",
            Containment.BOOT_ID,
            "type",
            "bind",
            "source",
            Isolator.STAGED_BOOT_ID,
            "options",
            List.of("bind", "ro", "nosuid", "nodev", "noexec")));
  }

  @Override
  public List<String> commandLine(String path, StagedSandbox staged) {
    return List.of(
        path,
        "--cgroup-manager=disabled",
        "--root=" + STATE,
        "run",
        "--detach",
        "--preserve-fds=" + staged.descriptors(),
        "--bundle=" + BUNDLE,
        staged.spec().id().value());
  }

  @Override
  public void verify(RunningSandbox running) {
    Namespaces.requireIsolated(running, NAME, Namespaces.ALL);
  }
}
