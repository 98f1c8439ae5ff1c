package dev.isola.provider.bubblewrap;

import dev.isola.host.launch.Containment;
import dev.isola.host.launch.Isolator;
import dev.isola.host.launch.LaunchPlan;
import dev.isola.spi.Health;
import dev.isola.spi.Isolation;
import dev.isola.spi.provider.Prerequisite;
import dev.isola.spi.spec.NetworkMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Isolates with {@code bwrap}: all namespaces, new /proc and /dev, few capabilities, and the agent
 * as PID 1 in its own session.
 */
final class BubblewrapIsolator implements Isolator {
  static final String NAME = "bubblewrap";

  static final Traits TRAITS =
      new Traits(
          NAME,
          "kernel namespaces with bubblewrap; no daemon, works without root",
          Isolation.CONTAINER,
          "pid namespace: the kernel kills all processes when the agent exits",
          Duration.ofMillis(15));

  private final BubblewrapProbe probe;

  BubblewrapIsolator(BubblewrapProbe probe) {
    this.probe = probe;
  }

  @Override
  public Traits traits() {
    return TRAITS;
  }

  @Override
  public List<Prerequisite> prerequisites() {
    return List.of(probe.program(), probe.namespaces());
  }

  @Override
  public Health health() {
    return probe.health(this);
  }

  @Override
  public boolean supportsRootless() {
    return true;
  }

  @Override
  public void plan(LaunchPlan plan, StagedSandbox staged) {
    // bwrap can mount /dev itself, but rereads the mount table for each device.
    plan.step("devices", staged.users().root());
    plan.step("enter");
    // The filter applies before the agent installs its own, in case another program takes its
    // place.
    String filter = Integer.toString(FIRST_DESCRIPTOR + staged.descriptors());
    if (Containment.sharesHostFolders(staged.spec())) {
      plan.step("filter", filter);
    } else {
      plan.step("filter", filter, "setuid");
    }
    // All other mounts of the launcher are nodev.
    List<String> arguments = new ArrayList<>(List.of(probe.name(), "--dev-bind", STAGED_ROOT, "/"));
    arguments.addAll(List.of("--proc", "/proc"));
    mask(arguments);
    if (Files.exists(Path.of(Containment.BOOT_ID))) {
      arguments.addAll(List.of("--ro-bind", STAGED_BOOT_ID, Containment.BOOT_ID));
    }
    arguments.addAll(
        List.of("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"));
    if (staged.network() != NetworkMode.HOST) {
      arguments.add("--unshare-net");
    }
    if (!staged.image()) {
      arguments.addAll(List.of("--remount-ro", "/"));
    }
    arguments.addAll(List.of("--hostname", staged.spec().id().value(), "--chdir", "/"));
    arguments.addAll(List.of("--seccomp", filter));
    arguments.addAll(List.of("--as-pid-1", "--new-session", "--clearenv", "--cap-drop", "ALL"));
    for (String capability : Containment.capabilities(staged.network())) {
      arguments.addAll(List.of("--cap-add", capability));
    }
    arguments.add("--");
    arguments.addAll(staged.agent());
    plan.run(arguments);
  }

  /**
   * Masks the same paths in /proc as OCI runtimes do; /sys is private. bwrap itself makes the
   * read-only paths read-only.
   */
  private static void mask(List<String> arguments) {
    for (String path : Containment.MASKED) {
      Path kernelPath = Path.of(path);
      if (path.startsWith("/proc/") && Files.exists(kernelPath)) {
        String empty = Files.isDirectory(kernelPath) ? STAGED_EMPTY_FOLDER : STAGED_EMPTY_FILE;
        arguments.addAll(List.of("--ro-bind", empty, path));
      }
    }
  }
}
