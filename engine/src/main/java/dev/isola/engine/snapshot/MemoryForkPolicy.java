package dev.isola.engine.snapshot;

import dev.isola.engine.api.ProviderStatus;
import dev.isola.engine.registry.ProviderRegistry;
import dev.isola.spi.SandboxId;
import dev.isola.spi.Secret;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.store.SandboxEntry;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Decides whether the memory of a sandbox may be forked, before anything is done to the sandbox.
 *
 * @param statuses returns the latest status of each provider, without blocking
 */
public record MemoryForkPolicy(ProviderRegistry registry, Supplier<List<ProviderStatus>> statuses) {
  /**
   * Refuses a source whose provider does not fork memory.
   *
   * @throws dev.isola.spi.error.Unsupported with the providers of this server that do
   */
  void requireSupport(SandboxEntry source) {
    if (!forksMemory(registry.get(source.provider()).info())) {
      throw unsupported(source);
    }
  }

  /**
   * Refuses a source with secret variables, unless the client allows that.
   *
   * @throws dev.isola.spi.error.Conflict with the names of the variables
   */
  static void requireNoSecrets(
      SandboxId source, Map<String, Secret> secretEnv, boolean allowSecrets) {
    if (!secretEnv.isEmpty() && !allowSecrets) {
      throw Fault.of(
              ErrorCode.CONFLICT,
              "sandbox "
                  + source
                  + " has secret variables ("
                  + String.join(", ", secretEnv.keySet())
                  + "), and a fork of its memory contains whatever its processes hold of them",
              "if every fork may have them, request it with allowSecrets: true (isola fork"
                  + " --allow-secrets); otherwise fork a sandbox without secretEnv")
          .sandbox(source)
          .exception();
    }
  }

  SandboxException unsupported(SandboxEntry source) {
    List<String> others =
        statuses.get().stream()
            .filter(one -> one.health().healthy())
            .filter(one -> one.info().filter(MemoryForkPolicy::forksMemory).isPresent())
            .map(ProviderStatus::name)
            .filter(name -> !name.equals(source.provider()))
            .toList();
    return Fault.of(
            ErrorCode.NOT_IMPLEMENTED,
            "the memory of sandbox "
                + source.id()
                + " cannot be forked: provider "
                + source.provider()
                + " copies files, but not running processes",
            (others.isEmpty()
                    ? "no healthy provider of this server forks memory; "
                    : "create the sandbox with provider " + String.join(" or ", others) + ", or ")
                + "request kind filesystem: forks get its files, and processes start afresh"
                + " (docs/snapshots.md, Forks)")
        .sandbox(source.id())
        .with("provider", source.provider())
        .with("capability", "forks of memory")
        .exception();
  }

  private static boolean forksMemory(ProviderInfo info) {
    return ForkKind.of(info).contains(ForkKind.MEMORY);
  }
}
