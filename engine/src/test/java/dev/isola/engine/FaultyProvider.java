package dev.isola.engine;

import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.Hosting;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.Isolation;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.provider.ProviderProfile;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.testing.provider.TestProviderFactory;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The test provider under another name, with faults that a test injects at run time. */
final class FaultyProvider implements Provider, ProviderFactory {
  private final String name;
  private volatile @Nullable Provider delegate;

  /** Applied to an inventory before it is returned. */
  volatile UnaryOperator<List<InventoryItem>> inventory = UnaryOperator.identity();

  /** The failure of capability lookups. */
  volatile @Nullable RuntimeException capabilityFailure;

  /** The failure of pausing. */
  volatile @Nullable RuntimeException pauseFailure;

  FaultyProvider(String name) {
    this.name = name;
  }

  private Provider delegate() {
    Provider made = delegate;
    if (made == null) {
      throw new IllegalStateException(name + " is not open");
    }
    return made;
  }

  private static void failIf(@Nullable RuntimeException failure) {
    if (failure != null) {
      throw failure;
    }
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public ProviderProfile profile() {
    return new ProviderProfile(Isolation.PROCESS, Hosting.LOCAL, Duration.ofMillis(1));
  }

  @Override
  public Provider create(ProviderConfig config, ProviderContext context) {
    delegate = new TestProviderFactory().create(config, context);
    return this;
  }

  @Override
  public ProviderInfo info() {
    ProviderInfo info = delegate().info();
    return new ProviderInfo(
        name,
        info.summary(),
        info.apiVersion(),
        info.isolation(),
        info.capabilities(),
        info.support(),
        info.prerequisites(),
        info.cleanup(),
        info.startup(),
        info.hosting());
  }

  @Override
  public Health health() {
    return delegate().health();
  }

  @Override
  public Sandbox create(SandboxSpec spec) {
    return new Faulty(delegate().create(spec));
  }

  @Override
  public Optional<Sandbox> attach(SandboxId id) {
    return delegate().attach(id).map(Faulty::new);
  }

  @Override
  public List<InventoryItem> inventory() {
    return inventory.apply(delegate().inventory());
  }

  @Override
  public void destroy(SandboxId id, DestroyOptions how) {
    delegate().destroy(id, how);
  }

  @Override
  public void close() {
    delegate().close();
  }

  private final class Faulty implements Sandbox {
    private final Sandbox sandbox;

    private Faulty(Sandbox sandbox) {
      this.sandbox = sandbox;
    }

    @Override
    public SandboxId id() {
      return sandbox.id();
    }

    @Override
    public SandboxState state() {
      return sandbox.state();
    }

    @Override
    public Execution start(Command command) {
      return sandbox.start(command);
    }

    @Override
    public FileSystem files() {
      return sandbox.files();
    }

    @Override
    public <C extends Capability> Optional<C> as(Class<C> capability) {
      failIf(capabilityFailure);
      Optional<C> given = sandbox.as(capability);
      return capability == Pausing.class
          ? given.map(one -> capability.cast(new FaultyPausing((Pausing) one)))
          : given;
    }
  }

  private final class FaultyPausing implements Pausing {
    private final Pausing pausing;

    private FaultyPausing(Pausing pausing) {
      this.pausing = pausing;
    }

    @Override
    public Set<PauseKind> kinds() {
      return pausing.kinds();
    }

    @Override
    public void pause(PauseKind kind) {
      failIf(pauseFailure);
      pausing.pause(kind);
    }

    @Override
    public void resume() {
      pausing.resume();
    }
  }
}
