package dev.isola.engine.api.health;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.admission.DiskHeadroom;
import dev.isola.engine.api.ProviderStatus;
import dev.isola.engine.api.Selection;
import dev.isola.engine.selection.ProviderSelector;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.spec.SandboxSpec;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Reports whether a request with default requirements would get a sandbox, that is, whether a
 * provider that the configuration allows is healthy, and the disks have space.
 *
 * @param provider the configured provider, or auto
 * @param statuses returns the current provider statuses without blocking
 * @param disks the file systems of the server
 */
public record Readiness(
    ProviderSelector selector,
    String provider,
    Supplier<List<ProviderStatus>> statuses,
    DiskHeadroom disks) {
  private static final SandboxSpec PLAIN = SandboxSpec.builder(new SandboxId("readiness")).build();

  public boolean isReady() {
    return chosen().isPresent() && !isShortOfDisk();
  }

  /** Returns whether a file system of the server is full, or below the floor for creates. */
  public boolean isShortOfDisk() {
    return disks.problem().isPresent();
  }

  /** Returns the provider that the engine would choose now. */
  public Optional<ProviderInfo> chosen() {
    return selection().flatMap(Selection::best);
  }

  private Optional<Selection> selection() {
    try {
      return Optional.of(selector.select(CreateRequest.of(PLAIN, provider), statuses.get()));
    } catch (NotFound e) {
      return Optional.empty(); // the provider is unknown or has not been probed yet
    }
  }
}
