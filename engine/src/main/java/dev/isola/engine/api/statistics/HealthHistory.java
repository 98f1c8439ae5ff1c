package dev.isola.engine.api.statistics;

import dev.isola.engine.api.HealthChange;
import dev.isola.engine.api.ProviderStatus;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The changes of the health of each provider. Not thread-safe. */
final class HealthHistory {
  private static final int MAX_CHANGES = 100;

  private final Map<String, Deque<HealthChange>> changes = new TreeMap<>();

  /** Records the providers whose health has changed. */
  void record(List<ProviderStatus> statuses) {
    for (ProviderStatus status : statuses) {
      Deque<HealthChange> known = changes.computeIfAbsent(status.name(), any -> new ArrayDeque<>());
      if (known.isEmpty() || !known.getLast().health().equals(status.health())) {
        known.add(new HealthChange(status.at(), status.health()));
      }
      if (known.size() > MAX_CHANGES) {
        known.removeFirst();
      }
    }
  }

  Map<String, List<HealthChange>> changes() {
    Map<String, List<HealthChange>> copy = new TreeMap<>();
    changes.forEach((name, all) -> copy.put(name, new ArrayList<>(all)));
    return copy;
  }
}
