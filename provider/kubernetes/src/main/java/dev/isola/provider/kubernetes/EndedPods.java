package dev.isola.provider.kubernetes;

import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Pods that another process or the cluster ended, with the cause. The API server forgets a deleted
 * pod, and with it why it was deleted, so the inventory shows it for some minutes, or until its
 * sandbox is destroyed.
 */
final class EndedPods {
  private static final int MAX = 10_000;
  private static final Duration KEPT = Duration.ofMinutes(5);

  private record Ended(InventoryItem item, Instant at) {}

  private final InstantSource clock;
  private final Map<SandboxId, Ended> pods =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<SandboxId, Ended> eldest) {
          return size() > MAX;
        }
      };

  EndedPods(InstantSource clock) {
    this.clock = clock;
  }

  synchronized void add(SandboxId id, PodSnapshot pod, String cause) {
    InventoryItem item =
        new InventoryItem(
            id,
            SandboxState.ERROR,
            pod.createdAt(),
            Map.of("pod", pod.name(), "node", pod.node(), InventoryItem.END_REASON, cause));
    pods.put(id, new Ended(item, clock.instant()));
  }

  synchronized void remove(SandboxId id) {
    pods.remove(id);
  }

  /** Returns those that are not in a list. */
  synchronized List<InventoryItem> without(List<InventoryItem> existing) {
    Instant oldest = clock.instant().minus(KEPT);
    pods.values().removeIf(ended -> ended.at().isBefore(oldest));
    Set<SandboxId> ids = existing.stream().map(InventoryItem::id).collect(Collectors.toSet());
    return pods.values().stream()
        .map(Ended::item)
        .filter(item -> !ids.contains(item.id()))
        .toList();
  }
}
