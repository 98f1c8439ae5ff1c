package dev.isola.provider.kubernetes;

import dev.isola.spi.InstanceId;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** The pods of this provider's sandboxes, found by their labels. */
record SandboxPods(Cluster cluster, InstanceId instance, String provider) {
  String selector() {
    return PodLabels.selector(instance, provider);
  }

  /** Returns the pod of a sandbox. */
  Optional<PodSnapshot> find(SandboxId id) {
    return cluster
        .pod(PodLabels.name(instance, id), Cluster.soon())
        .filter(pod -> pod.text("metadata", "labels", PodLabels.PROVIDER).equals(provider))
        .map(PodSnapshot::of)
        .filter(pod -> pod.sandbox().equals(Optional.of(id)));
  }

  private Stream<PodSnapshot> snapshots() {
    return cluster.list(cluster.pods(), selector()).stream().map(PodSnapshot::of);
  }

  List<InventoryItem> inventory() {
    List<InventoryItem> found = new ArrayList<>();
    for (PodSnapshot pod : snapshots().toList()) {
      if (pod.sandbox().isPresent()) {
        Map<String, String> details = new LinkedHashMap<>();
        details.put("pod", pod.name());
        details.put("namespace", cluster.namespace());
        details.put("node", pod.node());
        details.put("cluster", cluster.client().server().toString());
        pod.end().ifPresent(why -> details.put(InventoryItem.END_REASON, why));
        found.add(new InventoryItem(pod.sandbox().get(), pod.state(), pod.createdAt(), details));
      }
    }
    return found;
  }
}
