package dev.isola.engine.api;

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
 * @param interchangeable the names of the candidates that are as good as the best one, which is
 *     among them; empty if the request names a provider
 */
public record Selection(
    List<ProviderInfo> candidates,
    List<Rejection> rejections,
    boolean explicit,
    Map<String, String> advantages,
    List<String> interchangeable) {
  public Selection {
    candidates = List.copyOf(candidates);
    rejections = List.copyOf(rejections);
    advantages = Map.copyOf(advantages);
    interchangeable = List.copyOf(interchangeable);
  }

  /** Returns a selection without candidates. */
  public static Selection none(List<Rejection> rejections, boolean explicit) {
    return new Selection(List.of(), rejections, explicit, Map.of(), List.of());
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
