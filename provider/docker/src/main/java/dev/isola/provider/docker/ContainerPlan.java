package dev.isola.provider.docker;

import dev.isola.spi.InstanceId;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.Volume;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The container that a spec becomes, in the engine's words. A function of what it is given.
 *
 * @param runtime empty for the engine's own choice
 * @param mounts besides those that the spec names
 */
record ContainerPlan(
    InstanceId instance,
    Flavour flavour,
    SandboxSpec spec,
    Facts facts,
    Settings settings,
    ImageChoice image,
    Optional<String> runtime,
    List<Map<String, Object>> mounts,
    List<String> agentWords,
    String boot) {

  /** What of ours is inside. */
  static final String GUEST = "/.isola";

  static final String AGENT = GUEST + "/agent";

  /** The folder in which the agent makes its socket: the host's where it can be, or in memory. */
  static final String RUN = GUEST + "/run";

  static final String SOCKET = RUN + "/agent";

  /** What root of a sandbox may do to what is the sandbox's own. */
  private static final List<String> CAPABILITIES =
      List.of(
          "CHOWN",
          "DAC_OVERRIDE",
          "FOWNER",
          "FSETID",
          "KILL",
          "SETGID",
          "SETPCAP", // for the agent to give up the rest for good; it keeps none of it
          "SETUID",
          "NET_BIND_SERVICE");

  /** Files of the kernel that are in no namespace; engines cover most of them, but not all. */
  private static final List<String> MASKED =
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

  private static final List<String> READ_ONLY =
      List.of("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger");

  private static final int GVISOR_MEMORY_MB = 64;
  private static final int GVISOR_THREADS = 1024;
  private static final int GVISOR_THREADS_EACH = 64;
  private static final int MOST_THREADS = 1 << 22;

  private static final long MEGABYTE = 1 << 20;
  private static final int PERIOD = 100_000;
  private static final int LEAST_QUOTA = 1_000;

  /** The agent needs more than a command may have. */
  private static final int LEAST_DESCRIPTORS = 4096;

  Map<String, Object> body() {
    return Json.object(
        "Image",
        image.id(),
        "Entrypoint",
        words(),
        "Cmd",
        List.of(),
        "User",
        "0:0",
        "WorkingDir",
        spec.workspaceMount(),
        "Hostname",
        spec.id().value(),
        "Env",
        List.of(
            "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "ISOLA_INSTANCE=" + instance,
            "ISOLA_SANDBOX=" + spec.id()),
        "Labels",
        Labels.of(instance, flavour.name(), spec, boot),
        "OpenStdin",
        true,
        "StdinOnce",
        false,
        "AttachStdin",
        true,
        "AttachStdout",
        true,
        "AttachStderr",
        true,
        "Tty",
        false,
        "StopSignal",
        "SIGTERM",
        "Healthcheck",
        Map.of("Test", List.of("NONE")),
        "HostConfig",
        host());
  }

  private List<String> words() {
    List<String> words = new ArrayList<>(List.of(AGENT));
    words.addAll(agentWords);
    words.addAll(List.of("--instance", instance.value(), "--sandbox", spec.id().value()));
    return words;
  }

  private Map<String, Object> host() {
    ResourceLimits limits = spec.limits();
    List<Map<String, Object>> all = new ArrayList<>(image.mounts());
    all.addAll(Mounts.of(spec, "isola-" + instance + "-"));
    all.addAll(mounts);
    long memory = (limits.memoryMb() + (gvisor() ? GVISOR_MEMORY_MB : 0)) * MEGABYTE;
    Map<String, Object> host =
        Json.object(
            "Mounts",
            all,
            "NetworkMode",
            network(),
            "CapDrop",
            List.of("ALL"),
            "CapAdd",
            CAPABILITIES,
            "SecurityOpt",
            List.of("no-new-privileges"),
            "Memory",
            memory,
            "MemorySwap",
            memory,
            "CpuPeriod",
            PERIOD,
            "CpuQuota",
            Math.max(LEAST_QUOTA, (long) (limits.cpu() * PERIOD)),
            "PidsLimit",
            processes(),
            "Ulimits",
            ulimits(),
            "LogConfig",
            Map.of("Type", "none", "Config", Map.of()),
            "CgroupnsMode",
            "private",
            "IpcMode",
            "private",
            "Init",
            false,
            "Privileged",
            false,
            "PublishAllPorts",
            false,
            "RestartPolicy",
            Map.of("Name", "no"),
            "MaskedPaths",
            MASKED,
            "ReadonlyPaths",
            READ_ONLY);
    if (facts.remaps() && !facts.rootless() && sharesTheHost(spec)) {
      host.put("UsernsMode", "host");
    }
    runtime.ifPresent(name -> host.put("Runtime", name));
    return host;
  }

  /** Podman would raise what is not named beyond what it may raise itself. */
  private List<Map<String, Object>> ulimits() {
    List<Map<String, Object>> limits = new ArrayList<>();
    limits.add(ulimit("nofile", Math.max(LEAST_DESCRIPTORS, spec.limits().fileDescriptors())));
    if (facts.podman() && facts.processes().isPresent()) {
      limits.add(ulimit("nproc", facts.processes().getAsLong()));
    }
    return limits;
  }

  private static Map<String, Object> ulimit(String name, long value) {
    return Json.object("Name", name, "Soft", value, "Hard", value);
  }

  private boolean gvisor() {
    return flavour.guest() == Flavour.Guest.GVISOR;
  }

  /** What gVisor needs for itself is not the sandbox's; this only saves the machine. */
  private int processes() {
    int asked = spec.limits().processes();
    return gvisor()
        ? Math.min(MOST_THREADS, Math.multiplyExact(asked, GVISOR_THREADS_EACH) + GVISOR_THREADS)
        : asked;
  }

  private String network() {
    return switch (mode(spec)) {
      case NONE -> "none";
      case HOST -> "host";
      case BRIDGE -> settings.bridge().orElseThrow();
    };
  }

  static NetworkMode mode(SandboxSpec spec) {
    return spec.network().mode().orElse(NetworkMode.NONE);
  }

  /**
   * Tells whether a sandbox has something of the host's that an engine which remaps users cannot
   * give to others: it is then root to it.
   */
  private static boolean sharesTheHost(SandboxSpec spec) {
    return mode(spec) == NetworkMode.HOST
        || spec.workspacePath().isPresent()
        || spec.volumes().stream().anyMatch(volume -> volume.type() == Volume.Type.BIND);
  }
}
