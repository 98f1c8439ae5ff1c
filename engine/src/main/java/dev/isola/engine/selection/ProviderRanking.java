package dev.isola.engine.selection;

import dev.isola.document.request.Workload;
import dev.isola.spi.Hosting;
import dev.isola.spi.Isolation;
import dev.isola.spi.provider.ProviderProfile;
import java.util.Comparator;

/**
 * Ranks providers by what they declare and by their health, never by name. A server and {@code
 * isola run} use the same ranking:
 *
 * <ol>
 *   <li>Providers with isolation before providers without.
 *   <li>The processors of the machine before emulated ones.
 *   <li>Healthy providers before degraded ones.
 *   <li>In managed mode, remote providers first.
 *   <li>For MCP servers, a user-space kernel first.
 *   <li>Stronger isolation first.
 *   <li>Fewer dependencies first: no daemon, then a daemon, then a remote service.
 *   <li>Free providers first.
 *   <li>Faster startup first; ties are broken by name, so that the result is deterministic.
 * </ol>
 */
final class ProviderRanking {
  /**
   * The inputs of the ranking.
   *
   * @param degraded whether the provider reports a defect
   */
  record RankedProvider(String name, ProviderProfile profile, boolean degraded) {}

  private ProviderRanking() {}

  static Comparator<RankedProvider> of(SelectionPolicy policy, Workload type) {
    boolean cloudFirst = policy.mode() == DeploymentMode.MANAGED;
    boolean kernelFirst = type == Workload.MCP_SERVER;
    return Comparator.comparing(
            (RankedProvider one) -> one.profile().isolation() == Isolation.PROCESS)
        .thenComparing(one -> !one.profile().accelerated())
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
