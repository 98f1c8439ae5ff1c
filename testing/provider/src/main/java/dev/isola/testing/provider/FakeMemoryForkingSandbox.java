package dev.isola.testing.provider;

import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Forking;
import dev.isola.spi.capability.MemoryForking;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.spec.SandboxSpec;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
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
  /** The parts of a spec in which a fork may not differ from its source. */
  private static final List<Function<SandboxSpec, Object>> SAME =
      List.of(
          SandboxSpec::image,
          SandboxSpec::cwd,
          SandboxSpec::user,
          SandboxSpec::workspacePath,
          SandboxSpec::workspaceMount,
          SandboxSpec::volumes,
          SandboxSpec::startupTimeout,
          SandboxSpec::linger,
          SandboxSpec::limits,
          SandboxSpec::network,
          SandboxSpec::gpus);

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
    calls.open.incrementAndGet();
    return new FakeForkPoint(files);
  }

  private final class FakeForkPoint implements MemoryForking.MemoryForkPoint {
    private final Forking.ForkPoint files;

    private FakeForkPoint(Forking.ForkPoint files) {
      this.files = files;
    }

    @Override
    public Duration frozenFor() {
      return files.frozenFor();
    }

    @Override
    public Sandbox create(SandboxSpec fork) {
      calls.specs.add(fork);
      calls.beforeFork.accept(calls.forks.incrementAndGet());
      SandboxSpec source = Objects.requireNonNull(spec);
      boolean same = SAME.stream().allMatch(one -> one.apply(fork).equals(one.apply(source)));
      if (!same || !fork.seedFiles().isEmpty() || fork.init().isPresent()) {
        throw Fault.of(
                ErrorCode.INVALID_SPEC,
                "the fork " + fork + " differs from its source " + source,
                "this is a bug of the caller")
            .exception();
      }
      return forked.apply(files.create(fork), fork);
    }

    @Override
    public InputStream archive() {
      throw new UnsupportedOperationException("the fake stores nothing");
    }

    @Override
    public void close() {
      files.close();
      calls.open.decrementAndGet();
      calls.afterClose.run();
    }
  }
}
