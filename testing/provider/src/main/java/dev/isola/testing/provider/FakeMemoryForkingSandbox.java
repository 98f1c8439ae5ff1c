package dev.isola.testing.provider;

import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Forking;
import dev.isola.spi.capability.MemoryForking;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.spec.SandboxSpec;
import java.io.InputStream;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * A sandbox of the fake that declares {@link MemoryForking}.
 *
 * @param forked registers a new fork
 * @param spec what it was created with; null if another server created it
 */
record FakeMemoryForkingSandbox(
    Sandbox delegate,
    FakeMemoryForking calls,
    BiFunction<Sandbox, SandboxSpec, Sandbox> forked,
    @Nullable SandboxSpec spec)
    implements Sandbox {
  @Override
  public SandboxId id() {
    return delegate.id();
  }

  @Override
  public SandboxState state() {
    return delegate.state();
  }

  @Override
  public Execution start(Command command) {
    calls.commands.add(id() + ": " + command.display());
    return delegate.start(command);
  }

  @Override
  public FileSystem files() {
    return delegate.files();
  }

  @Override
  public <C extends Capability> Optional<C> as(Class<C> capability) {
    return capability == MemoryForking.class
        ? Optional.of(capability.cast((MemoryForking) this::createForkPoint))
        : delegate.as(capability);
  }

  private MemoryForking.MemoryForkPoint createForkPoint() {
    calls.points.incrementAndGet();
    calls.beforePoint.run();
    Forking.ForkPoint files = delegate.as(Forking.class).orElseThrow().createForkPoint();
    try {
      FakeStoredSandbox stored = FakeStoredSandbox.of(this, Objects.requireNonNull(spec));
      calls.open.incrementAndGet();
      return new FakeForkPoint(files, stored);
    } catch (RuntimeException e) {
      files.close();
      throw e;
    }
  }

  private final class FakeForkPoint implements MemoryForking.MemoryForkPoint {
    private final Forking.ForkPoint files;
    private final FakeStoredSandbox stored;

    private FakeForkPoint(Forking.ForkPoint files, FakeStoredSandbox stored) {
      this.files = files;
      this.stored = stored;
    }

    @Override
    public Duration frozenFor() {
      return files.frozenFor();
    }

    @Override
    public Sandbox create(SandboxSpec fork) {
      calls.countFork(fork);
      stored.requireSame(fork);
      return forked.apply(files.create(fork), fork);
    }

    @Override
    public InputStream archive() {
      calls.beforeArchive.run();
      return stored.archive();
    }

    @Override
    public void close() {
      files.close();
      calls.open.decrementAndGet();
      calls.afterClose.run();
    }
  }
}
