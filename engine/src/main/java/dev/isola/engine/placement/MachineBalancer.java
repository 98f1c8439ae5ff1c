package dev.isola.engine.placement;

import dev.isola.engine.api.ProviderInstance;
import dev.isola.engine.api.ProviderStatus;
import dev.isola.engine.api.Resources;
import dev.isola.engine.api.Selection;
import dev.isola.spi.provider.ProviderInfo;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Spreads sandboxes over this machine and the other machines of the operator: of equally good
 * providers, the one whose machine has the most free memory comes first. What this server has
 * promised to sandboxes there is not free, whether they use it already or not: a report is some
 * seconds old, and sandboxes grow.
 *
 * @param instances by name
 * @param statuses returns the results of the last probes
 * @param promised returns what is promised to the sandboxes of a provider
 */
public record MachineBalancer(
    Map<String, ProviderInstance> instances,
    Supplier<List<ProviderStatus>> statuses,
    Function<String, Resources> promised) {
  private static final String ADVANTAGE = "has more free memory";

  /** The name of this machine; no provider can have it. */
  private static final String HERE = "";

  /** Returns the selection with the equally good candidates by free memory. */
  public Selection balance(Selection selection) {
    List<String> interchangeable = selection.interchangeable();
    if (interchangeable.size() < 2
        || interchangeable.stream().allMatch(name -> machine(name).equals(HERE))) {
      return selection;
    }
    Map<String, Long> free = freeMemory();
    List<ProviderInfo> candidates = new ArrayList<>(selection.candidates());
    candidates
        .subList(0, interchangeable.size())
        .sort(
            Comparator.comparing(
                (ProviderInfo one) -> free.getOrDefault(machine(one.name()), 0L),
                Comparator.reverseOrder()));
    Map<String, String> advantages = new HashMap<>(selection.advantages());
    String best = candidates.getFirst().name();
    advantages.remove(best);
    interchangeable.stream()
        .filter(name -> !name.equals(best))
        .forEach(name -> advantages.put(name, ADVANTAGE));
    return new Selection(
        candidates, selection.rejections(), selection.explicit(), advantages, interchangeable);
  }

  private String machine(String provider) {
    ProviderInstance instance = instances.get(provider);
    return instance != null && instance.own() ? provider : HERE;
  }

  private Map<String, Long> freeMemory() {
    Map<String, Long> free = new HashMap<>();
    List<ProviderStatus> current = statuses.get();
    for (ProviderStatus status : current) {
      String machine = machine(status.name());
      status
          .resources()
          .map(resources -> resources.freeMemoryMb().orElse(resources.memoryMb()))
          .ifPresent(reported -> free.putIfAbsent(machine, reported));
    }
    for (ProviderStatus status : current) {
      free.merge(machine(status.name()), -promised.apply(status.name()).memoryMb(), Long::sum);
    }
    return free;
  }
}
