package dev.isola.provider.kubernetes;

import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Pods that another client or the cluster ended, with the cause. The inventory shows them until
 * their sandbox is destroyed: the API server forgets a deleted pod, and with it why it was deleted.
 */
final class EndedPods {
  private static final int MAX = 10_000;

  private final Map<SandboxId, InventoryItem> ended =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<SandboxId, InventoryItem> eldest) {
          return size() > MAX;
        }
      };

  synchronized void add(SandboxId id, PodSnapshot pod, String cause) {
    ended.put(
        id,
        new InventoryItem(
            id,
            SandboxState.ERROR,
            pod.createdAt(),
            Map.of("pod", pod.name(), "node", pod.node(), InventoryItem.END_REASON, cause)));
  }

  synchronized void remove(SandboxId id) {
    ended.remove(id);
  }

  /** Returns those that are not in a list. */
  synchronized List<InventoryItem> without(List<InventoryItem> existing) {
    Set<SandboxId> ids = existing.stream().map(InventoryItem::id).collect(Collectors.toSet());
    return ended.values().stream().filter(item -> !ids.contains(item.id())).toList();
  }
}
