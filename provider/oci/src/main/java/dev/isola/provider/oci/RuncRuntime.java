package dev.isola.provider.oci;

import dev.isola.host.launch.Isolator.RunningSandbox;
import dev.isola.host.launch.Isolator.StagedSandbox;
import dev.isola.host.launch.Isolator.Traits;
import dev.isola.host.launch.LaunchPlan;
import dev.isola.spi.Isolation;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;

/**
 * runc. It has no option to ignore cgroups, but in rootless mode it continues without them if they
 * are not writable; so it sees them read-only, and the sandbox stays in the cgroups that it has
 * already joined.
 */
final class RuncRuntime implements OciRuntime {
  static final String NAME = "runc";

  @Override
  public Traits traits() {
    return new Traits(
        NAME,
        "kernel namespaces with runc; no daemon, requires root",
        Isolation.CONTAINER,
        "pid namespace: the kernel kills all processes when the agent exits",
        Duration.ofMillis(60));
  }

  @Override
  public String program() {
    return NAME;
  }

  @Override
  public Pattern versionPattern() {
    return Pattern.compile("runc version (\\S+)");
  }

  @Override
  public void prepare(LaunchPlan plan, StagedSandbox staged) {
    plan.step("protect", "/sys/fs/cgroup");
  }

  @Override
  public boolean refusesBootId() {
    return true;
  }

  @Override
  public List<String> commandLine(String path, StagedSandbox staged) {
    return List.of(
        path,
        "--rootless=true",
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
