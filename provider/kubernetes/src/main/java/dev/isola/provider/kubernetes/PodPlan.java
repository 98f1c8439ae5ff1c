package dev.isola.provider.kubernetes;

import dev.isola.codec.json.Json;
import dev.isola.host.launch.Containment;
import dev.isola.host.launch.SandboxKernel;
import dev.isola.spi.InstanceId;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The pod for a spec, as the body of a create request. A pure function of its inputs.
 *
 * @param agent the config map with the agent
 * @param isolation the runtime, which may need memory for itself, and the users
 */
record PodPlan(
    InstanceId instance,
    KubernetesSettings settings,
    SandboxSpec spec,
    String image,
    AgentConfigMap agent,
    PodIsolation isolation) {
  static final String CONTAINER = "sandbox";
  static final String AGENT = "/.isola/" + AgentConfigMap.PROGRAM;

  /** The folder of the agent's socket, apart from that of its program, which is read-only. */
  private static final String RUN = "/dev/isola";

  static final String SOCKET = RUN + "/agent";

  /** The folder of the claim with the files outside of the workspace, while there is no pod. */
  static final String SAVED = "/dev/isola-saved";

  private static final String CLAIM = "workspace";

  /** Enough for a signal; the agent ends at once. */
  private static final int GRACE_SECONDS = 2;

  /**
   * The grace period of a pod that Isola deletes. It differs from that of others, so that every
   * process of the instance knows that the end was intended.
   */
  static final int DESTROY_GRACE_SECONDS = 1;

  /** The share of a processor limit that the scheduler reserves: most sandboxes are idle. */
  private static final double RESERVED_CPU = 0.1;

  Map<String, Object> body() {
    return Json.object(
        "apiVersion",
        "v1",
        "kind",
        "Pod",
        "metadata",
        Json.object(
            "name",
            PodLabels.name(instance, spec.id()),
            "labels",
            PodLabels.labels(instance, settings.provider(), spec),
            "annotations",
            PodLabels.annotations(spec)),
        "spec",
        podSpec());
  }

  private Map<String, Object> podSpec() {
    Map<String, Object> pod =
        Json.object(
            "restartPolicy",
            "Never",
            "terminationGracePeriodSeconds",
            GRACE_SECONDS,
            "automountServiceAccountToken",
            false,
            "enableServiceLinks",
            false,
            "hostname",
            spec.id().value(),
            "dnsPolicy",
            "None",
            "dnsConfig",
            Map.of("nameservers", List.of("198.18.0.1")),
            "securityContext",
            Map.of("seccompProfile", Map.of("type", "RuntimeDefault")),
            "nodeSelector",
            nodeSelector(),
            "imagePullSecrets",
            settings.pullSecrets().stream().map(name -> Map.of("name", name)).toList(),
            "volumes",
            volumes(),
            "containers",
            List.of(container()));
    settings.runtimeClass().ifPresent(name -> pod.put("runtimeClassName", name));
    if (isolation.userNamespace()) {
      pod.put("hostUsers", false);
    }
    settings.nodeGrace().ifPresent(grace -> pod.put("tolerations", tolerations(grace)));
    return pod;
  }

  /** Kubernetes adds them with five minutes to a pod that has none. */
  private static List<Map<String, Object>> tolerations(Duration grace) {
    return Stream.of("not-ready", "unreachable")
        .map(
            state ->
                Json.object(
                    "key",
                    "node.kubernetes.io/" + state,
                    "operator",
                    "Exists",
                    "effect",
                    "NoExecute",
                    "tolerationSeconds",
                    grace.toSeconds()))
        .toList();
  }

  private Map<String, Object> nodeSelector() {
    Map<String, Object> labels =
        Json.object("kubernetes.io/os", "linux", "kubernetes.io/arch", agent.architecture());
    labels.putAll(settings.nodeSelector());
    return labels;
  }

  private Map<String, Object> container() {
    return Json.object(
        "name",
        CONTAINER,
        "image",
        image,
        "imagePullPolicy",
        settings.pull(),
        "command",
        List.of(
            AGENT,
            "--boot-listen",
            SOCKET,
            "--own-events",
            "--instance",
            instance.value(),
            "--sandbox",
            spec.id().value()),
        "args",
        List.of(),
        "workingDir",
        spec.workspaceMount(),
        "resources",
        resources(),
        "securityContext",
        securityContext(),
        "volumeMounts",
        mounts());
  }

  /** The agent starts with CAP_NET_ADMIN to remove the interfaces of the pod, and drops it. */
  private static Map<String, Object> securityContext() {
    return Json.object(
        "privileged",
        false,
        "allowPrivilegeEscalation",
        false,
        "runAsUser",
        0,
        "runAsGroup",
        0,
        "capabilities",
        Map.of(
            "drop",
            List.of("ALL"),
            "add",
            Containment.capabilities(NetworkMode.FILTERED).stream()
                .map(name -> name.replaceFirst("^CAP_", ""))
                .toList()));
  }

  private Map<String, Object> resources() {
    ResourceLimits limits =
        isolation.runtime() == PodRuntime.GVISOR
            ? SandboxKernel.USER_SPACE.groupLimits(spec.limits())
            : spec.limits();
    String memory = limits.memoryMb() + "Mi";
    return Map.of(
        "limits", Map.of("cpu", millicores(limits.cpu()), "memory", memory),
        "requests", Map.of("cpu", millicores(limits.cpu() * RESERVED_CPU), "memory", memory));
  }

  private static String millicores(double cores) {
    return String.format(Locale.ROOT, "%dm", Math.max(1, Math.round(cores * 1000)));
  }

  private List<Map<String, Object>> volumes() {
    List<Map<String, Object>> volumes = new ArrayList<>();
    volumes.add(
        Json.object(
            "name", "agent", "configMap", Json.object("name", agent.name(), "defaultMode", 0555)));
    volumes.add(memory("run", "1Mi"));
    if (settings.workspaceClaims()) {
      volumes.add(claim(CLAIM, WorkspaceClaims.name(instance, spec.id())));
    }
    List<VolumeMount> mounts = spec.volumes();
    for (int i = 0; i < mounts.size(); i++) {
      volumes.add(volume("volume-" + i, mounts.get(i)));
    }
    return volumes;
  }

  private Map<String, Object> volume(String name, VolumeMount mount) {
    return switch (mount.type()) {
      case TMPFS -> memory(name, spec.limits().memoryMb() + "Mi");
      case VOLUME -> claim(name, ClaimVolumes.claim(instance, mount.source()));
      case BIND -> throw Capability.unsupported("kubernetes", "folders of the host");
    };
  }

  private static Map<String, Object> claim(String volume, String object) {
    return Json.object("name", volume, "persistentVolumeClaim", Map.of("claimName", object));
  }

  private static Map<String, Object> memory(String name, String size) {
    return Json.object("name", name, "emptyDir", Map.of("medium", "Memory", "sizeLimit", size));
  }

  private List<Map<String, Object>> mounts() {
    List<Map<String, Object>> mounts = new ArrayList<>();
    mounts.add(mount("agent", "/.isola", true));
    mounts.add(mount("run", RUN, false));
    if (settings.workspaceClaims()) {
      mounts.add(part("files", spec.workspaceMount()));
      mounts.add(part("saved", SAVED));
    }
    List<VolumeMount> volumes = spec.volumes();
    for (int i = 0; i < volumes.size(); i++) {
      mounts.add(mount("volume-" + i, volumes.get(i).destination(), volumes.get(i).readOnly()));
    }
    return mounts;
  }

  private static Map<String, Object> part(String folder, String path) {
    Map<String, Object> mount = mount(CLAIM, path, false);
    mount.put("subPath", folder);
    return mount;
  }

  private static Map<String, Object> mount(String name, String path, boolean readOnly) {
    return Json.object("name", name, "mountPath", path, "readOnly", readOnly);
  }
}
