package dev.isola.provider.kubernetes;

import dev.isola.codec.json.Json;
import dev.isola.spi.InstanceId;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The objects that all sandboxes of an instance share: the agent, and a network policy that denies
 * everything. The agent removes the interfaces of its pod, so isolation does not depend on whether
 * the cluster enforces policies; the policy covers the moment before.
 */
final class NamespaceObjects {
  private final Cluster cluster;
  private final InstanceId instance;
  private volatile @Nullable AgentConfigMap ensured;

  NamespaceObjects(Cluster cluster, InstanceId instance) {
    this.cluster = cluster;
    this.instance = instance;
  }

  /** Returns the agent after creating what is missing; asks the cluster only once. */
  AgentConfigMap ensure() {
    AgentConfigMap known = ensured;
    if (known == null) {
      known = AgentConfigMap.of(instance, AgentConfigMap.ownArchitecture());
      cluster.ensure(cluster.configMaps(), known.name(), known.body());
      cluster.ensure(cluster.networkPolicies(), policyName(), policy());
      ensured = known;
    }
    return known;
  }

  /** Asks the cluster again at the next creation: another client may have removed them. */
  void forget() {
    ensured = null;
  }

  /** Removes the objects of every version of the agent. */
  void remove() {
    forget();
    cluster.removeAll(cluster.networkPolicies(), PodLabels.INSTANCE + "=" + instance);
    cluster.removeAll(cluster.configMaps(), PodLabels.INSTANCE + "=" + instance);
  }

  private String policyName() {
    return "isola-" + instance;
  }

  private Map<String, Object> policy() {
    return Json.object(
        "apiVersion",
        "networking.k8s.io/v1",
        "kind",
        "NetworkPolicy",
        "metadata",
        Json.object("name", policyName(), "labels", PodLabels.ofInstance(instance)),
        "spec",
        Json.object(
            "podSelector",
            Map.of("matchLabels", Map.of(PodLabels.INSTANCE, instance.value())),
            "policyTypes",
            List.of("Ingress", "Egress")));
  }
}
