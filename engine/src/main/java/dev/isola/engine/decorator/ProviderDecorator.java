package dev.isola.engine.decorator;

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
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A provider as the engine uses it: no call throws an undeclared exception or blocks forever, and
 * its sandboxes are {@link SandboxDecorator}s. The registry returns no other providers.
 */
public final class ProviderDecorator implements Provider {
  private final Provider provider;
  private final ProviderGuard guard;
  private final TimeLimits limits;
  private final AtomicBoolean listing = new AtomicBoolean();

  /**
   * @param name the name of the instance
   */
  public ProviderDecorator(String name, Provider provider) {
    this(provider, new ProviderGuard(name), TimeLimits.DEFAULT);
  }

  private ProviderDecorator(Provider provider, ProviderGuard guard, TimeLimits limits) {
    this.provider = provider;
    this.guard = guard;
    this.limits = limits;
  }

  @Override
  public ProviderInfo info() {
    return guard
        .call("info", limits.grace(), ErrorCode.PROVIDER_UNAVAILABLE, provider::info)
        .withName(guard.provider());
  }

  @Override
  public Health health() {
    return guard.call("health", limits.grace(), ErrorCode.PROVIDER_UNAVAILABLE, provider::health);
  }

  @Override
  public Optional<HostResources> resources() {
    return guard.call(
        "resources", limits.grace(), ErrorCode.PROVIDER_UNAVAILABLE, provider::resources);
  }

  /** Creates a sandbox. The outcome of a timeout is unknown, which rules out fallback. */
  @Override
  public Sandbox create(SandboxSpec spec) {
    return decorated(
        guard.call(
            "create", limits.create(spec), ErrorCode.OUTCOME_UNKNOWN, () -> provider.create(spec)));
  }

  @Override
  public Optional<Sandbox> attach(SandboxId id) {
    return guard
        .call("attach", limits.grace(), ErrorCode.PROVIDER_UNAVAILABLE, () -> provider.attach(id))
        .map(this::decorated);
  }

  private Sandbox decorated(Sandbox sandbox) {
    return new SandboxDecorator(sandbox, guard, limits, SandboxObserver.NONE);
  }

  @Override
  public Optional<String> imageDigest(SandboxSpec spec) {
    return guard.call(
        "imageDigest",
        limits.grace(),
        ErrorCode.PROVIDER_UNAVAILABLE,
        () -> provider.imageDigest(spec));
  }

  @Override
  public ForkPoint openForkPoint(InputStream archive) {
    return ForkPointDecorator.of(
        guard.call(
            "openForkPoint",
            limits.unpack(),
            ErrorCode.DEADLINE_EXCEEDED,
            () -> provider.openForkPoint(archive),
            ForkPoint::close),
        guard,
        limits);
  }

  @Override
  public Optional<Volumes> volumes() {
    return guard
        .call("volumes", limits.grace(), ErrorCode.PROVIDER_UNAVAILABLE, provider::volumes)
        .map(found -> new VolumesDecorator(found, guard, limits));
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
        limits.grace(),
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
        how.timeout().plus(limits.grace()),
        ErrorCode.DEADLINE_EXCEEDED,
        () -> provider.destroy(id, how));
  }

  @Override
  public void removeSharedResources() {
    guard.run(
        "removeSharedResources",
        limits.removal(),
        ErrorCode.DEADLINE_EXCEEDED,
        provider::removeSharedResources);
  }

  @Override
  public void close() {
    guard.run("close", limits.grace(), ErrorCode.DEADLINE_EXCEEDED, provider::close);
  }
}
