package dev.isola.engine.selection;

import dev.isola.spi.provider.ProviderInfo;
import java.util.List;
import java.util.Optional;

/**
 * Who may make the sandbox, best first, and why everybody else may not.
 *
 * @param explicit whether the caller named the provider
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
