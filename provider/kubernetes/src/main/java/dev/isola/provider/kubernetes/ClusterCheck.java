package dev.isola.provider.kubernetes;

import dev.isola.spi.Health;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.SandboxSpec;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Checks whether the cluster accepts sandboxes, and what is missing. The API server checks a pod of
 * a sandbox without creating it, which includes quotas and the pod security of the namespace.
 * Permissions are asked for every few minutes.
 */
final class ClusterCheck {
  private static final long PERMISSIONS_TTL = Duration.ofMinutes(5).toNanos();

  private final Cluster cluster;
  private final KubernetesSettings settings;
  private final InstanceId instance;
  private final Optional<SandboxResources> resources;
  private volatile @Nullable Reviewed reviewed;

  private record Reviewed(long at, List<Permission> missing) {}

  ClusterCheck(KubernetesSettings settings, SandboxPods pods) {
    this.cluster = pods.cluster();
    this.settings = settings;
    this.instance = pods.instance();
    this.resources = pods.resources();
  }

  Health health() {
    try {
      String version = cluster.version();
      if (resources.isPresent() && !resources.get().areDefined()) {
        return SandboxResources.UNDEFINED;
      }
      List<Permission> missing = missing();
      if (!missing.isEmpty()) {
        return new Health.Unhealthy(
            "in namespace "
                + cluster.namespace()
                + " these permissions are missing: "
                + missing.stream().map(Permission::toString).collect(Collectors.joining(", ")),
            "bind a role with them to the user of the kubeconfig; docs/providers/kubernetes.md has"
                + " the role");
      }
      Optional<PodIsolation> isolation = PodIsolation.find(cluster, settings);
      if (isolation.isEmpty()) {
        return new Health.Unhealthy(
            "the cluster has no runtime class " + settings.runtimeClass().orElse(""),
            "create it and install its runtime on the nodes, or name another one (setting"
                + " runtime_class)");
      }
      check(plan(isolation.get()));
      return new Health.Healthy(
          "Kubernetes "
              + version
              + " at "
              + cluster.client().server()
              + ", namespace "
              + cluster.namespace()
              + settings.runtimeClass().map(name -> ", runtime class " + name).orElse("")
              + resources.map(found -> ", by agent-sandbox").orElse(""));
    } catch (SandboxException e) {
      return new Health.Unhealthy(e.fault().problem(), e.fault().remedy());
    }
  }

  private void check(PodPlan plan) {
    if (resources.isPresent()) {
      resources.get().check(plan);
    } else {
      cluster.checkPod(plan.body());
    }
  }

  private PodPlan plan(PodIsolation isolation) {
    return new PodPlan(
        instance,
        settings,
        SandboxSpec.builder(new SandboxId("health")).build(),
        settings.image().orElse("isola-health"),
        AgentConfigMap.of(instance, AgentConfigMap.ownArchitecture()),
        isolation);
  }

  private List<Permission> missing() {
    Reviewed known = reviewed;
    if (known == null
        || !known.missing().isEmpty()
        || System.nanoTime() - known.at() > PERMISSIONS_TTL) {
      known =
          new Reviewed(
              System.nanoTime(),
              Permission.needed(settings).stream()
                  .filter(permission -> !cluster.allows(permission))
                  .toList());
      reviewed = known;
    }
    return known.missing();
  }
}
