package dev.isola.testing.provider;

import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Forking.ForkPoint;
import dev.isola.spi.capability.MemoryForking;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.spec.SandboxSpec;
import java.io.InputStream;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A fake that declares {@link MemoryForking} and does not fork memory: a fork or a stored sandbox
 * has the files of the workspace, and no process continues in it. It checks what callers pass to it
 * and records what they do.
 */
final class FakeMemoryForkingProvider implements Provider {
  private final Provider delegate;
  private final FakeMemoryForking calls;
  private final Map<SandboxId, SandboxSpec> specs = new ConcurrentHashMap<>();

  FakeMemoryForkingProvider(Provider delegate, FakeMemoryForking calls) {
    this.delegate = delegate;
    this.calls = calls;
  }

  @Override
  public ProviderInfo info() {
    ProviderInfo info = delegate.info();
    Set<Class<? extends Capability>> capabilities = new HashSet<>(info.capabilities());
    capabilities.add(MemoryForking.class);
    return new ProviderInfo(
        FakeMemoryForking.NAME,
        "a fake that declares forks of memory",
        info.apiVersion(),
        info.isolation(),
        capabilities,
        info.support(),
        info.prerequisites(),
        info.cleanup(),
        info.startup());
  }

  @Override
  public Health health() {
    return delegate.health();
  }

  @Override
  public Sandbox create(SandboxSpec spec) {
    specs.put(spec.id(), spec);
    return wrap(delegate.create(spec));
  }

  @Override
  public ForkPoint openForkPoint(InputStream archive) {
    FakeStoredSandbox stored = FakeStoredSandbox.read(archive);
    calls.open.incrementAndGet();
    return new ForkPoint() {
      @Override
      public Duration frozenFor() {
        return Duration.ZERO;
      }

      @Override
      public Sandbox create(SandboxSpec spec) {
        calls.countFork(spec);
        stored.requireSame(spec);
        Sandbox sandbox = FakeMemoryForkingProvider.this.create(spec);
        stored.writeFiles(sandbox, spec);
        return sandbox;
      }

      @Override
      public void close() {
        calls.open.decrementAndGet();
        calls.afterClose.run();
      }
    };
  }

  private Sandbox wrap(Sandbox sandbox) {
    return new FakeMemoryForkingSandbox(sandbox, calls, this::fork, specs.get(sandbox.id()));
  }

  private Sandbox fork(Sandbox fork, SandboxSpec spec) {
    specs.put(spec.id(), spec);
    return wrap(fork);
  }

  @Override
  public Optional<Sandbox> attach(SandboxId id) {
    return delegate.attach(id).map(this::wrap);
  }

  @Override
  public List<InventoryItem> inventory() {
    return delegate.inventory();
  }

  @Override
  public void destroy(SandboxId id, DestroyOptions how) {
    delegate.destroy(id, how);
    specs.remove(id);
  }

  @Override
  public void close() {
    delegate.close();
  }
}
