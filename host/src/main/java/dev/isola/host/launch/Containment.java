package dev.isola.host.launch;

import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import java.util.ArrayList;
import java.util.List;

/** What a sandbox in namespaces may do and see, shared by all isolators. */
public final class Containment {
  /** The agent redirects connections to other hosts with it, then drops it permanently. */
  private static final String NETWORK_SETUP = "CAP_NET_ADMIN";

  /** The capabilities of a sandbox's root over its own resources. */
  private static final List<String> CAPABILITIES =
      List.of(
          "CAP_CHOWN",
          "CAP_DAC_OVERRIDE",
          "CAP_FOWNER",
          "CAP_FSETID",
          "CAP_KILL",
          "CAP_SETGID",
          "CAP_SETPCAP", // the agent uses it to drop all others permanently, then drops it too
          "CAP_SETUID",
          "CAP_NET_BIND_SERVICE");

  /** Limit of terminals per sandbox; the host has a few thousand in total. */
  public static final int TERMINALS = 128;

  /** Kernel files that are not namespaced. Most runtimes mask most of them, but not all. */
  public static final List<String> MASKED =
      List.of(
          "/proc/asound",
          "/proc/acpi",
          "/proc/interrupts",
          "/proc/kcore",
          "/proc/keys",
          "/proc/latency_stats",
          "/proc/timer_list",
          "/proc/timer_stats",
          "/proc/sched_debug",
          "/proc/scsi",
          "/sys/devices/virtual/powercap",
          "/sys/firmware");

  /** The kernel's id of the current boot, which programs compare to detect a reboot. */
  public static final String BOOT_ID = "/proc/sys/kernel/random/boot_id";

  /** Kernel folders that must be read-only. */
  public static final List<String> READ_ONLY =
      List.of("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger");

  private Containment() {}

  /** Returns the capabilities with which the agent of a sandbox starts. */
  public static List<String> capabilities(NetworkMode network) {
    if (network != NetworkMode.FILTERED) {
      return CAPABILITIES;
    }
    List<String> all = new ArrayList<>(CAPABILITIES);
    all.add(NETWORK_SETUP);
    return List.copyOf(all);
  }

  /**
   * Reports whether a sandbox can write to folders of the host. Its root is the server's user
   * there, and its files persist.
   */
  public static boolean sharesHostFolders(SandboxSpec spec) {
    return spec.workspacePath().isPresent()
        || spec.volumes().stream()
            .anyMatch(volume -> volume.type() != VolumeMount.Type.TMPFS && !volume.readOnly());
  }
}
