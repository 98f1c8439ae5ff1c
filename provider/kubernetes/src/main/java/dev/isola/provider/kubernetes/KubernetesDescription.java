package dev.isola.provider.kubernetes;

import dev.isola.spi.Hosting;
import dev.isola.spi.LimitKind;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.capability.Renewing;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.capability.Volumes;
import dev.isola.spi.capability.Watching;
import dev.isola.spi.error.Fault;
import dev.isola.spi.provider.Prerequisite;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.provider.ProviderProfile;
import dev.isola.spi.provider.SpecFeature;
import dev.isola.spi.provider.SpecSupport;
import dev.isola.spi.spec.ApiVersion;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.VolumeMount;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Builds the provider info. */
record KubernetesDescription(KubernetesSettings settings) {
  static final String NAME = "kubernetes";

  /** A pod of an image that its node has. */
  private static final Duration STARTUP = Duration.ofMillis(1500);

  /** Never chosen by itself: a kubeconfig on this machine may lead to anything. */
  static final ProviderProfile PROFILE =
      new ProviderProfile(PodRuntime.HOST_KERNEL.isolation(), Hosting.DAEMON, STARTUP)
          .whenNamed()
          .reachableFromEveryServer();

  private static final Set<Class<? extends Capability>> CAPABILITIES =
      Set.of(
          Attaching.class,
          Terminals.class,
          Watching.class,
          PortDialing.class,
          UsageReporting.class,
          Renewing.class,
          Snapshotting.class);

  ProviderInfo of(PodIsolation isolation, String version) {
    boolean remapped = isolation.userNamespace();
    return info(
        isolation.runtime(),
        List.of(
            new Prerequisite("cluster", true, true, "Kubernetes " + version, ""),
            new Prerequisite(
                "user namespaces",
                false,
                remapped,
                remapped
                    ? "the root user of a sandbox is unprivileged on its node"
                    : "the root user of a sandbox is root of its node with few capabilities",
                remapped ? "" : "use nodes that support user namespaces"),
            new Prerequisite(
                "control group namespaces",
                false,
                false,
                "whether a sandbox sees the host paths of its cgroups depends on its node",
                "use nodes with cgroup v2"),
            new Prerequisite(
                "boot ids",
                false,
                false,
                "a sandbox sees the boot id of its kernel",
                "use a runtime class with a kernel of its own")));
  }

  /** Returns the info to report while the cluster is unreachable. */
  ProviderInfo unavailable(Fault why) {
    return info(
        PodRuntime.HOST_KERNEL,
        List.of(new Prerequisite("cluster", true, false, why.problem(), why.remedy())));
  }

  private ProviderInfo info(PodRuntime runtime, List<Prerequisite> prerequisites) {
    return new ProviderInfo(
        NAME,
        "pods of a Kubernetes cluster",
        ApiVersion.CURRENT,
        runtime.isolation(),
        capabilities(),
        new SpecSupport(
            EnumSet.of(SpecFeature.IMAGES, SpecFeature.USERS),
            EnumSet.of(NetworkMode.NONE, NetworkMode.FILTERED),
            settings.storage().isPresent()
                ? EnumSet.of(VolumeMount.Type.TMPFS, VolumeMount.Type.VOLUME)
                : EnumSet.of(VolumeMount.Type.TMPFS),
            limits(runtime)),
        prerequisites,
        "the node kills the agent, whose pid namespace contains all processes of the sandbox, and"
            + " confirms it before the pod is removed",
        STARTUP,
        Hosting.DAEMON);
  }

  /** Returns the capabilities of a sandbox. */
  Set<Class<? extends Capability>> sandboxCapabilities() {
    Set<Class<? extends Capability>> all = new HashSet<>(CAPABILITIES);
    if (settings.workspaceClaims()) {
      all.add(Pausing.class);
    }
    return all;
  }

  private Set<Class<? extends Capability>> capabilities() {
    Set<Class<? extends Capability>> all = sandboxCapabilities();
    if (settings.storage().isPresent()) {
      all.add(Volumes.class);
    }
    return all;
  }

  /**
   * A cluster limits the processes and threads of a pod for a whole node only, if at all, and
   * evicts a pod that writes too much instead of refusing the write. Whether gVisor joins the
   * control groups of its pod is a setting of each node (ignore-cgroups), which the API does not
   * tell, but the operator can.
   */
  private Set<LimitKind> limits(PodRuntime runtime) {
    Set<LimitKind> limits = EnumSet.of(LimitKind.FILE_DESCRIPTORS, LimitKind.TIMEOUT);
    if (runtime != PodRuntime.GVISOR || settings.gvisorCgroups()) {
      limits.add(LimitKind.CPU);
      limits.add(LimitKind.MEMORY);
    }
    if (runtime.hasOwnKernel()) {
      limits.add(LimitKind.KERNEL_OBJECTS);
    }
    return limits;
  }
}
