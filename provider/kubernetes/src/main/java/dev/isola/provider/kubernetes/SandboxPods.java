package dev.isola.provider.kubernetes;

import dev.isola.codec.json.JsonValue;
import dev.isola.spi.InstanceId;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The pods of this provider's sandboxes, found by their labels.
 *
 * @param resources the objects of which they are the pods; empty if Isola creates pods itself
 */
record SandboxPods(
    Cluster cluster, InstanceId instance, String provider, Optional<SandboxResources> resources) {

  String selector() {
    return PodLabels.selector(instance, provider);
  }

  /** Returns the pod of a sandbox, or the object for which there is no pod. */
  Optional<PodSnapshot> find(SandboxId id) {
    if (resources.isEmpty()) {
      return pod(id);
    }
    Optional<JsonValue> resource = resources.get().find(id); // before the pod, which is made later
    return SandboxResources.view(resource, pod(id));
  }

  /** Returns the pod of a sandbox. */
  Optional<PodSnapshot> pod(SandboxId id) {
    return cluster
        .pod(PodLabels.name(instance, id), Cluster.soon())
        .filter(pod -> pod.text("metadata", "labels", PodLabels.PROVIDER).equals(provider))
        .map(PodSnapshot::of)
        .filter(pod -> pod.sandbox().equals(Optional.of(id)));
  }

  private Stream<PodSnapshot> snapshots() {
    List<JsonValue> objects =
        resources.map(found -> found.list(selector())).orElseGet(List::of); // before the pods
    Stream<PodSnapshot> found =
        cluster.list(cluster.pods(), selector()).stream().map(PodSnapshot::of);
    return resources.isEmpty() ? found : SandboxResources.views(objects, found.toList()).stream();
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
