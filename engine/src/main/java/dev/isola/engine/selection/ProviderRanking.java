package dev.isola.engine.selection;

import dev.isola.document.request.Workload;
import dev.isola.spi.Hosting;
import dev.isola.spi.Isolation;
import dev.isola.spi.provider.ProviderProfile;
import java.util.Comparator;

/**
 * The order in which providers are taken, made of what they declare and how they are, never of
 * their names. It is the same for a server and for {@code isola run}.
 *
 * <ol>
 *   <li>A provider without isolation comes after all that have some.
 *   <li>A degraded provider comes after all healthy ones.
 *   <li>Where sandboxes are managed, the cloud comes first.
 *   <li>What the sandbox is for: a server of tools prefers a kernel in user space.
 *   <li>The stronger isolation.
 *   <li>What needs less to run: no daemon, then a daemon, then a cloud.
 *   <li>What costs nothing.
 *   <li>What starts faster; then the name, so that the answer is always the same.
 * </ol>
 */
final class ProviderRanking {
  /**
   * What the order is made of.
   *
   * @param degraded whether it knows of a defect of its own
   */
  record RankedProvider(String name, ProviderProfile profile, boolean degraded) {}

  private ProviderRanking() {}

  static Comparator<RankedProvider> of(SelectionPolicy policy, Workload type) {
    boolean cloudFirst = policy.mode() == DeploymentMode.MANAGED;
    boolean kernelFirst = type == Workload.MCP_SERVER;
    return Comparator.comparing(
            (RankedProvider one) -> one.profile().isolation() == Isolation.PROCESS)
        .thenComparing(RankedProvider::degraded)
        .thenComparing(one -> !(cloudFirst && one.profile().hosting() == Hosting.REMOTE))
        .thenComparing(one -> !(kernelFirst && one.profile().isolation() == Isolation.KERNEL))
        .thenComparing(one -> one.profile().isolation(), Comparator.reverseOrder())
        .thenComparing(one -> one.profile().hosting())
        .thenComparing(one -> one.profile().cost())
        .thenComparing(one -> one.profile().startup())
        .thenComparing(RankedProvider::name);
  }
}
