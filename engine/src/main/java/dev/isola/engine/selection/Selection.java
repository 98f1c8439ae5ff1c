package dev.isola.engine.selection;

import dev.isola.spi.provider.ProviderInfo;
import java.util.List;
import java.util.Optional;

/**
 * The candidates for a request, best first, and the reason why each other provider was rejected.
 *
 * @param explicit whether the request names the provider
 */
public record Selection(
    List<ProviderInfo> candidates, List<Rejection> rejections, boolean explicit) {
  public Selection {
    candidates = List.copyOf(candidates);
    rejections = List.copyOf(rejections);
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
