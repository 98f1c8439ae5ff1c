package dev.isola.engine.usage;

import dev.isola.engine.api.ProviderInstance;
import dev.isola.engine.api.registry.ProviderRegistry;
import dev.isola.engine.lifecycle.LiveSandboxes;
import dev.isola.spi.Hosting;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.SandboxException;
import dev.isola.store.SandboxEntry;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The ids of containers of a container engine, as the inventory of its provider lists them. Listing
 * is expensive, so that each sandbox is looked up once per boot.
 */
final class ContainerIds {
  /** The detail of an inventory item that holds the id. */
  private static final String DETAIL = "container";

  private static final String VALID = "[A-Za-z0-9_.-]{1,128}";
  private static final int MAX_CACHED = 10_000;

  private record Lookup(long bootGeneration, Optional<String> container) {}

  private final ProviderRegistry registry;
  private final LiveSandboxes liveSandboxes;
  private final Map<SandboxId, Lookup> lookups = new ConcurrentHashMap<>();

  ContainerIds(ProviderRegistry registry, LiveSandboxes liveSandboxes) {
    this.registry = registry;
    this.liveSandboxes = liveSandboxes;
  }

  /** Returns the id of the container of a sandbox; empty if it has none, or none is known now. */
  Optional<String> of(SandboxEntry entry) {
    ProviderInstance instance = registry.instances().get(entry.provider());
    if (instance == null || instance.profile().hosting() != Hosting.DAEMON) {
      return Optional.empty();
    }
    long generation = liveSandboxes.bootGeneration(entry.id());
    Lookup before = lookups.get(entry.id());
    if (before != null && before.bootGeneration() == generation) {
      return before.container();
    }
    try {
      Optional<String> found =
          registry.get(entry.provider()).inventory().stream()
              .filter(one -> one.id().equals(entry.id()))
              .flatMap(one -> Optional.ofNullable(one.details().get(DETAIL)).stream())
              .filter(text -> text.matches(VALID))
              .findFirst();
      if (lookups.size() >= MAX_CACHED) {
        lookups.clear();
      }
      lookups.put(entry.id(), new Lookup(generation, found));
      return found;
    } catch (SandboxException e) {
      return Optional.empty(); // another listing is in progress; the next request looks again
    }
  }
}
