package dev.isola.testing.provider;

import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.provider.ProviderProfile;
import dev.isola.spi.spec.SandboxSpec;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;

/**
 * Creates a fake of a provider that forks memory, for tests of the layers above: the sandboxes of
 * the test provider, whose forks and stored sandboxes have the files of the workspace and no
 * processes. It records the calls of the engine, and tests set its failures.
 */
public final class FakeMemoryForking implements ProviderFactory {
  public static final String NAME = "fake-memory-forking";

  /** The number of fork points requested of sandboxes, and of those that are not closed. */
  public final AtomicInteger points = new AtomicInteger();

  public final AtomicInteger open = new AtomicInteger();

  /** The number of forks requested from all fork points, and their specs. */
  public final AtomicInteger forks = new AtomicInteger();

  public final List<SandboxSpec> specs = new CopyOnWriteArrayList<>();

  /** The commands started in its sandboxes, each as {@code ID: COMMAND}. */
  public final List<String> commands = new CopyOnWriteArrayList<>();

  /** Called before a fork point is created; an exception is the failure of that call. */
  public volatile Runnable beforePoint = () -> {};

  /** Called before a fork point is stored, as {@link #beforePoint} is. */
  public volatile Runnable beforeArchive = () -> {};

  /** Called with the number of the fork before it is created, as {@link #beforePoint} is. */
  public volatile IntConsumer beforeFork = number -> {};

  /** Called after a fork point was closed, as {@link #beforePoint} is. */
  public volatile Runnable afterClose = () -> {};

  private final ProviderFactory delegate = new TestProviderFactory();

  void countFork(SandboxSpec spec) {
    specs.add(spec);
    beforeFork.accept(forks.incrementAndGet());
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public ProviderProfile profile() {
    return delegate.profile();
  }

  @Override
  public Provider create(ProviderConfig config, ProviderContext context) {
    return new FakeMemoryForkingProvider(delegate.create(config, context), this);
  }
}
