package dev.isola.host.launch;

import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import java.util.List;

/** What a sandbox in namespaces may do and see, in one place for everybody who makes one. */
public final class Containment {
  /** What root of a sandbox may do to what is the sandbox's own, by the kernel's names. */
  public static final List<String> CAPABILITIES =
      List.of(
          "CAP_CHOWN",
          "CAP_DAC_OVERRIDE",
          "CAP_FOWNER",
          "CAP_FSETID",
          "CAP_KILL",
          "CAP_SETGID",
          "CAP_SETPCAP", // for the agent to give up the rest for good; it keeps none of it
          "CAP_SETUID",
          "CAP_NET_BIND_SERVICE");

  /** Terminals of one sandbox; the machine has a few thousand for everybody. */
  public static final int TERMINALS = 128;

  /** Files of the kernel that are in no namespace; engines cover most of them, but not all. */
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

  /** Folders of the kernel's in which nothing may be written. */
  public static final List<String> READ_ONLY =
      List.of("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger");

  private Containment() {}

  /** In such a folder root of the sandbox is the server's user, and what it makes there stays. */
  public static boolean sharesHostFolders(SandboxSpec spec) {
    return spec.workspacePath().isPresent()
        || spec.volumes().stream()
            .anyMatch(volume -> volume.type() != VolumeMount.Type.TMPFS && !volume.readOnly());
  }
}
