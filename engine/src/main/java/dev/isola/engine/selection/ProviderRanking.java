package dev.isola.engine.selection;

import dev.isola.document.request.Workload;
import dev.isola.engine.api.DeploymentMode;
import dev.isola.engine.api.SelectionPolicy;
import dev.isola.spi.Hosting;
import dev.isola.spi.Isolation;
import dev.isola.spi.provider.ProviderProfile;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;

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

  /**
   * One criterion of the ranking.
   *
   * @param advantage what the better provider has; completes a sentence that starts with its name
   */
  private record Criterion(String advantage, Comparator<RankedProvider> order) {}

  /** Makes the result deterministic. */
  private static final Criterion BY_NAME =
      new Criterion("is first by name", Comparator.comparing(RankedProvider::name));

  private ProviderRanking() {}

  static Comparator<RankedProvider> of(SelectionPolicy policy, Workload type) {
    return exceptByName(policy, type).thenComparing(BY_NAME.order());
  }

  /** Returns the ranking in which equally good providers are equal. */
  static Comparator<RankedProvider> exceptByName(SelectionPolicy policy, Workload type) {
    return criteria(policy, type).stream()
        .map(Criterion::order)
        .reduce(Comparator::thenComparing)
        .orElseThrow();
  }

  /** Returns the advantage that ranks a provider before another one. */
  static String advantage(
      SelectionPolicy policy, Workload type, RankedProvider better, RankedProvider other) {
    return criteria(policy, type).stream()
        .filter(one -> one.order().compare(better, other) < 0)
        .findFirst()
        .map(Criterion::advantage)
        .orElse(BY_NAME.advantage());
  }

  private static List<Criterion> criteria(SelectionPolicy policy, Workload type) {
    boolean cloudFirst = policy.mode() == DeploymentMode.MANAGED;
    boolean kernelFirst = type == Workload.MCP_SERVER;
    return List.of(
        first("isolates its sandboxes", one -> one.profile().isolation() != Isolation.PROCESS),
        first("uses the processors of the machine", one -> one.profile().accelerated()),
        first("is healthy and not degraded", one -> !one.degraded()),
        first(
            "is remote, which deployment mode managed prefers",
            one -> cloudFirst && one.profile().hosting() == Hosting.REMOTE),
        first(
            "has a kernel in user space, which MCP servers prefer",
            one -> kernelFirst && one.profile().isolation() == Isolation.KERNEL),
        new Criterion(
            "has stronger isolation",
            Comparator.comparing(one -> one.profile().isolation(), Comparator.reverseOrder())),
        new Criterion(
            "has fewer dependencies", Comparator.comparing(one -> one.profile().hosting())),
        new Criterion("costs less", Comparator.comparing(one -> one.profile().cost())),
        new Criterion("starts faster", Comparator.comparing(one -> one.profile().startup())));
  }

  /** Returns the criterion that ranks providers with a property before those without. */
  private static Criterion first(String advantage, Predicate<RankedProvider> property) {
    return new Criterion(advantage, Comparator.comparing(one -> !property.test(one)));
  }
}
