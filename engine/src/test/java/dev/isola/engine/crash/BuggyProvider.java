package dev.isola.engine.crash;

import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Volumes;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.spec.SandboxSpec;
import java.util.List;
import java.util.Optional;

/** A real provider with a bug. */
abstract class BuggyProvider implements Provider {
  final Provider real;

  private BuggyProvider(Provider real) {
    this.real = real;
  }

  /** Fails to return its inventory. */
  static final class InventoryFails extends BuggyProvider {
    InventoryFails(Provider real) {
      super(real);
    }

    @Override
    public List<InventoryItem> inventory() {
      throw Fault.of(ErrorCode.PROVIDER_UNAVAILABLE, "it sees nothing", "").exception();
    }
  }

  /** Creates a sandbox again after destroying it. */
  static final class RecreatesDestroyed extends BuggyProvider {
    RecreatesDestroyed(Provider real) {
      super(real);
    }

    @Override
    public void destroy(SandboxId id, DestroyOptions how) {
      real.destroy(id, how);
      real.create(SandboxSpec.builder(id).build());
    }
  }

  @Override
  public ProviderInfo info() {
    return real.info();
  }

  @Override
  public Health health() {
    return real.health();
  }

  @Override
  public Sandbox create(SandboxSpec spec) {
    return real.create(spec);
  }

  @Override
  public Optional<Sandbox> attach(SandboxId id) {
    return real.attach(id);
  }

  @Override
  public Optional<Volumes> volumes() {
    return real.volumes();
  }

  @Override
  public List<InventoryItem> inventory() {
    return real.inventory();
  }

  @Override
  public void destroy(SandboxId id, DestroyOptions how) {
    real.destroy(id, how);
  }

  @Override
  public void close() {
    real.close();
  }
}
