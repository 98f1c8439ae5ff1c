package dev.isola.provider.kubernetes;

import dev.isola.codec.json.Json;
import dev.isola.spi.InstanceId;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The objects that all sandboxes of an instance share: the agent, and a network policy that denies
 * everything. The agent removes the interfaces of its pod, so isolation does not depend on whether
 * the cluster enforces policies; the policy covers the moment before.
 */
final class NamespaceObjects {
  private final Cluster cluster;
  private final InstanceId instance;
  private final AtomicReference<String> ensured = new AtomicReference<>("");

  NamespaceObjects(Cluster cluster, InstanceId instance) {
    this.cluster = cluster;
    this.instance = instance;
  }

  /** Creates what is missing; asks the cluster once for each version of the agent. */
  void ensure(AgentConfigMap agent) {
    if (ensured.get().equals(agent.name())) {
      return;
    }
    cluster.ensure(cluster.configMaps(), agent.name(), agent.body());
    cluster.ensure(cluster.networkPolicies(), policyName(), policy());
    ensured.set(agent.name());
  }

  /** Asks the cluster again at the next creation. */
  void forget() {
    ensured.set("");
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
        Json.object(
            "name",
            policyName(),
            "labels",
            Map.of("app.kubernetes.io/managed-by", "isola", PodLabels.INSTANCE, instance.value())),
        "spec",
        Json.object(
            "podSelector",
            Map.of("matchLabels", Map.of(PodLabels.INSTANCE, instance.value())),
            "policyTypes",
            List.of("Ingress", "Egress")));
  }
}
