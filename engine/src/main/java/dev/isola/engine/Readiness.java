package dev.isola.engine;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.ProviderStatus;
import dev.isola.engine.selection.ProviderSelector;
import dev.isola.engine.selection.Selection;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.spec.SandboxSpec;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Tells whether a request that asks for nothing special would get a sandbox: a provider that the
 * configuration allows is healthy.
 *
 * @param provider that the configuration names, or auto
 * @param standings how providers stand now, without waiting
 */
public record Readiness(
    ProviderSelector selector, String provider, Supplier<List<ProviderStatus>> statuses) {
  private static final SandboxSpec PLAIN = SandboxSpec.builder(new SandboxId("readiness")).build();

  public boolean isReady() {
    return chosen().isPresent();
  }

  /** Returns the provider that would be chosen now. */
  public Optional<ProviderInfo> chosen() {
    return selection().flatMap(Selection::best);
  }

  /** Returns all providers that could be chosen now, best first. */
  public List<ProviderInfo> candidates() {
    return selection().map(Selection::candidates).orElse(List.of());
  }

  private Optional<Selection> selection() {
    try {
      return Optional.of(selector.select(CreateRequest.of(PLAIN, provider), statuses.get()));
    } catch (NotFound e) {
      return Optional.empty(); // it has not been asked yet, or there is none of that name
    }
  }
}
