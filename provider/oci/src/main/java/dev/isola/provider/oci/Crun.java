package dev.isola.provider.oci;

import dev.isola.host.launch.Isolator.Running;
import dev.isola.host.launch.Isolator.Staged;
import dev.isola.host.launch.Isolator.Traits;
import dev.isola.host.launch.Plan;
import dev.isola.spi.Isolation;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;

/** crun. It is told to leave control groups alone; the sandbox is in its own already. */
final class Crun implements OciRuntime {
  static final String NAME = "crun";

  @Override
  public Traits traits() {
    return new Traits(
        NAME,
        "namespaces of the kernel, by crun; no daemon, as root",
        Isolation.CONTAINER,
        "a pid namespace: the kernel ends every process with the agent",
        Duration.ofMillis(30));
  }

  @Override
  public String program() {
    return NAME;
  }

  @Override
  public Pattern version() {
    return Pattern.compile("crun version (\\S+)");
  }

  /** It refuses a machine with both versions of control groups even where it does not use them. */
  @Override
  public void prepare(Plan plan, Staged staged) {
    plan.step("cover", "/sys/fs/cgroup");
  }

  @Override
  public List<String> words(String path, Staged staged) {
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
  public void verify(Running running) {
    Namespaces.need(running, NAME, Namespaces.ALL);
  }
}
