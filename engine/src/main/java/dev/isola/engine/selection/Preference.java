package dev.isola.engine.selection;

import dev.isola.engine.ProviderNames;
import dev.isola.spi.Isolation;
import dev.isola.spi.ProviderInfo;
import dev.isola.spi.spec.ContainerType;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The order in which providers are taken. Where the sandboxes shall be (the mode) comes before what
 * they are for (the type), and that before strength. One without a wall never stands before one
 * that has one, whoever is better known.
 */
final class Preference {
  private Preference() {}

  static Comparator<ProviderInfo> of(Policy policy, ContainerType type) {
    List<String> known = known(policy, type);
    return Comparator.comparing((ProviderInfo info) -> info.isolation() == Isolation.PROCESS)
        .thenComparingInt(
            info -> known.contains(info.name()) ? known.indexOf(info.name()) : known.size())
        .thenComparing(ProviderInfo::isolation, Comparator.reverseOrder())
        .thenComparing(ProviderInfo::name);
  }

  private static List<String> known(Policy policy, ContainerType type) {
    List<String> order = new ArrayList<>(ProviderNames.BEST_FIRST);
    if (type == ContainerType.MCP_SERVER) {
      order.remove("gvisor");
      order.addFirst("gvisor");
    }
    if (policy.mode() == DeploymentMode.MANAGED && policy.e2bKey()) {
      order.addFirst(ProviderNames.E2B);
    }
    return order;
  }
}
