package dev.isola.provider.docker;

import dev.isola.codec.json.Json;
import dev.isola.host.cgroup.ControlGroup;
import dev.isola.host.launch.Containment;
import dev.isola.host.launch.SandboxKernel;
import dev.isola.spi.InstanceId;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The container for a spec, as the body of a create request. A pure function of its inputs.
 *
 * @param runtime the runtime to request; empty for the engine's default
 * @param mounts the mounts in addition to those of the spec
 */
record ContainerPlan(
    InstanceId instance,
    EngineVariant variant,
    SandboxSpec spec,
    EngineInfo engineInfo,
    DockerProviderSettings settings,
    ResolvedImage image,
    Optional<String> runtime,
    List<Map<String, Object>> mounts,
    List<String> agentArguments,
    String boot) {

  /** The folder of Isola's files in the container. */
  static final String GUEST = "/.isola";

  static final String AGENT = GUEST + "/agent";

  /**
   * The folder of the agent's socket: a bind mount from the host if possible, otherwise a tmpfs.
   */
  static final String RUN = GUEST + "/run";

  static final String SOCKET = RUN + "/agent";

  private static final long MEGABYTE = 1 << 20;
  private static final int PERIOD = 100_000;
  private static final int MIN_QUOTA = 1_000;

  /** The agent needs more descriptors than a command may have. */
  private static final int MIN_DESCRIPTORS = 4096;

  Map<String, Object> body() {
    return Json.object(
        "Image",
        image.id(),
        "Entrypoint",
        command(),
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
        labels(),
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

  private Map<String, String> labels() {
    Map<String, String> labels =
        new LinkedHashMap<>(ContainerLabels.of(instance, variant.name(), spec, boot));
    labels.putAll(
        WrittenFilesLabels.of(
            spec, variant.hasOwnKernel() ? Optional.empty() : image.digest(), image));
    return labels;
  }

  private List<String> command() {
    List<String> command = new ArrayList<>(List.of(AGENT));
    command.addAll(agentArguments);
    command.addAll(List.of("--instance", instance.value(), "--sandbox", spec.id().value()));
    return command;
  }

  private Map<String, Object> host() {
    ResourceLimits limits = limits();
    List<Map<String, Object>> all = new ArrayList<>(image.mounts());
    all.addAll(Mounts.of(spec, EngineVolumes.prefix(instance)));
    all.addAll(mounts);
    long memory = limits.memoryMb() * MEGABYTE;
    Map<String, Object> host =
        Json.object(
            "Mounts",
            all,
            "NetworkMode",
            network(),
            "CapDrop",
            List.of("ALL"),
            "CapAdd",
            Containment.capabilities(mode(spec)),
            "SecurityOpt",
            List.of("no-new-privileges"),
            "Memory",
            memory,
            "MemorySwap",
            memory,
            "CpuPeriod",
            PERIOD,
            "CpuQuota",
            Math.max(MIN_QUOTA, (long) (limits.cpu() * PERIOD)),
            "PidsLimit",
            limits.threads() + ControlGroup.AGENT_THREADS,
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
            Containment.MASKED,
            "ReadonlyPaths",
            Containment.READ_ONLY);
    if (engineInfo.remapsUsers() && !engineInfo.rootless() && sharesHostFiles(spec)) {
      host.put("UsernsMode", "host");
    }
    runtime.ifPresent(name -> host.put("Runtime", name));
    return host;
  }

  /**
   * Sets every limit explicitly, because Podman would raise an unset one beyond what it is
   * permitted to.
   */
  private List<Map<String, Object>> ulimits() {
    List<Map<String, Object>> limits = new ArrayList<>();
    limits.add(ulimit("nofile", Math.max(MIN_DESCRIPTORS, spec.limits().fileDescriptors())));
    if (engineInfo.podman() && engineInfo.processes().isPresent()) {
      limits.add(ulimit("nproc", engineInfo.processes().getAsLong()));
    }
    return limits;
  }

  private static Map<String, Object> ulimit(String name, long value) {
    return Json.object("Name", name, "Soft", value, "Hard", value);
  }

  private ResourceLimits limits() {
    return variant.guest() == EngineVariant.ExpectedKernel.GVISOR
        ? SandboxKernel.USER_SPACE.groupLimits(spec.limits())
        : spec.limits();
  }

  private String network() {
    return switch (mode(spec)) {
      case NONE, FILTERED -> "none";
      case HOST -> "host";
      case BRIDGE -> settings.bridge().orElseThrow();
    };
  }

  static NetworkMode mode(SandboxSpec spec) {
    return spec.network().mode().orElse(NetworkMode.NONE);
  }

  /**
   * Tells whether the sandbox shares files with the host. With user remapping, the container's root
   * could not access them, so such a sandbox runs as the host's root.
   */
  private static boolean sharesHostFiles(SandboxSpec spec) {
    return mode(spec) == NetworkMode.HOST
        || spec.workspacePath().isPresent()
        || spec.volumes().stream().anyMatch(volume -> volume.type() == VolumeMount.Type.BIND);
  }
}
