package dev.isola.engine.selection;

import dev.isola.spi.provider.ProviderInfo;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The candidates for a request, best first, and the reason why each other provider was rejected.
 *
 * @param explicit whether the request names the provider
 * @param advantages what the best candidate has and each other one has not, by the other's name;
 *     completes a sentence that starts with the name of the best
 */
public record Selection(
    List<ProviderInfo> candidates,
    List<Rejection> rejections,
    boolean explicit,
    Map<String, String> advantages) {
  public Selection {
    candidates = List.copyOf(candidates);
    rejections = List.copyOf(rejections);
    advantages = Map.copyOf(advantages);
  }

  /** Returns a selection without candidates. */
  public static Selection none(List<Rejection> rejections, boolean explicit) {
    return new Selection(List.of(), rejections, explicit, Map.of());
  }

  public Optional<ProviderInfo> best() {
    return candidates.stream().findFirst();
  }

  public List<String> names() {
    return candidates.stream().map(ProviderInfo::name).toList();
  }

  public Optional<Rejection> rejection(String provider) {
    return rejections.stream().filter(one -> one.provider().equals(provider)).findFirst();
  }
}
