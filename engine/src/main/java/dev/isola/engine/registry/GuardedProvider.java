package dev.isola.engine.registry;

import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Forking.ForkPoint;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Volumes;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.provider.HostResources;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.spec.SandboxSpec;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A provider behind a {@link ProviderGuard}, whose sandboxes are behind a {@link SandboxGuard}. The
 * registry returns only guarded providers, so that no caller in the engine sees an undeclared
 * exception or blocks forever.
 */
final class GuardedProvider implements Provider {
  /** The time that a call may take beyond its own timeout, which the provider enforces. */
  private static final Duration GRACE = Duration.ofMinutes(1);

  /** The time in which a provider must have unpacked what was stored of a sandbox. */
  private static final Duration UNPACK_TIMEOUT = Duration.ofMinutes(15);

  private final Provider provider;
  private final ProviderGuard guard;
  private final SandboxGuard sandboxes;
  private final AtomicBoolean listing = new AtomicBoolean();

  GuardedProvider(String name, Provider provider) {
    this.provider = provider;
    this.guard = new ProviderGuard(name);
    this.sandboxes = new SandboxGuard(guard);
  }

  @Override
  public ProviderInfo info() {
    return guard
        .call("info", GRACE, ErrorCode.PROVIDER_UNAVAILABLE, provider::info)
        .withName(guard.provider());
  }

  @Override
  public Health health() {
    return guard.call("health", GRACE, ErrorCode.PROVIDER_UNAVAILABLE, provider::health);
  }

  @Override
  public Optional<HostResources> resources() {
    return guard.call("resources", GRACE, ErrorCode.PROVIDER_UNAVAILABLE, provider::resources);
  }

  /** Creates a sandbox. The outcome of a timeout is unknown, which rules out fallback. */
  @Override
  public Sandbox create(SandboxSpec spec) {
    Duration timeout = spec.startupTimeout().multipliedBy(2).plus(GRACE);
    return sandboxes.wrap(
        guard.call("create", timeout, ErrorCode.OUTCOME_UNKNOWN, () -> provider.create(spec)));
  }

  @Override
  public Optional<Sandbox> attach(SandboxId id) {
    return guard
        .call("attach", GRACE, ErrorCode.PROVIDER_UNAVAILABLE, () -> provider.attach(id))
        .map(sandboxes::wrap);
  }

  @Override
  public Optional<String> imageDigest(SandboxSpec spec) {
    return guard.call(
        "imageDigest", GRACE, ErrorCode.PROVIDER_UNAVAILABLE, () -> provider.imageDigest(spec));
  }

  @Override
  public ForkPoint openForkPoint(InputStream archive) {
    return sandboxes.wrap(
        guard.call(
            "openForkPoint",
            UNPACK_TIMEOUT,
            ErrorCode.DEADLINE_EXCEEDED,
            () -> provider.openForkPoint(archive)));
  }

  @Override
  public Optional<Volumes> volumes() {
    return guard
        .call("volumes", GRACE, ErrorCode.PROVIDER_UNAVAILABLE, provider::volumes)
        .map(found -> new GuardedVolumes(found, guard));
  }

  /** Returns the inventory. While a call hangs, further calls fail immediately. */
  @Override
  public List<InventoryItem> inventory() {
    if (!listing.compareAndSet(false, true)) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "provider " + guard.provider() + " has not answered an earlier inventory request yet",
              "check whether its backend hangs")
          .with("provider", guard.provider())
          .exception();
    }
    return guard.call(
        "inventory",
        GRACE,
        ErrorCode.PROVIDER_UNAVAILABLE,
        () -> {
          try {
            return provider.inventory();
          } finally {
            listing.set(false);
          }
        });
  }

  @Override
  public void destroy(SandboxId id, DestroyOptions how) {
    guard.run(
        "destroy",
        how.timeout().plus(GRACE),
        ErrorCode.DEADLINE_EXCEEDED,
        () -> provider.destroy(id, how));
  }

  @Override
  public void close() {
    guard.run("close", GRACE, ErrorCode.DEADLINE_EXCEEDED, provider::close);
  }
}
