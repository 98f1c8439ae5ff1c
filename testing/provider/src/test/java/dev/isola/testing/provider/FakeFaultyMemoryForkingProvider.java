package dev.isola.testing.provider;

import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Forking;
import dev.isola.spi.capability.Forking.ForkPoint;
import dev.isola.spi.capability.MemoryForking;
import dev.isola.spi.capability.MemoryForking.MemoryForkPoint;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionInfo;
import dev.isola.spi.exec.Output;
import dev.isola.spi.file.FileSystem;
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
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Claims to fork memory, but forks files only, since a test double cannot save processes. It adds
 * one fault. Shows that the checks of forks of memory fire.
 */
final class FakeFaultyMemoryForkingProvider implements Provider {
  /** What is wrong with the forks. */
  enum ForkFault {
    /** Forks have the files of the source and none of its processes. */
    FILES_ONLY,
    /** The commands of the source are started again in the fork. */
    RESTARTS_PROGRAMS,
    /** Commands read the same random bytes in every fork. */
    REPEATS_RANDOM_BYTES,
    /** The clock of a fork is that of the fork point. */
    STANDING_CLOCK,
    /** Commands in a fork see the id of the source. */
    KEEPS_THE_ID,
    /** The fork is the source under another id. */
    IS_THE_SOURCE,
    /** The same, and a client that is attached to the source loses output. */
    LOSES_OUTPUT,
    /** The processes of the source end. */
    ENDS_THE_SOURCE,
    /** The source is frozen for a minute. */
    FREEZES_TOO_LONG,
    /** Any spec is accepted. */
    ACCEPTS_ANY_SPEC,
    /** Commands in the source get the environment of the fork. */
    SECRET_REACHES_THE_SOURCE
  }

  private final Provider files;
  private final ForkFault fault;
  private final Map<SandboxId, FakeSandbox> sandboxes = new ConcurrentHashMap<>();

  FakeFaultyMemoryForkingProvider(Provider files, ForkFault fault) {
    this.files = files;
    this.fault = fault;
  }

  @Override
  public ProviderInfo info() {
    ProviderInfo info = files.info();
    Set<Class<? extends Capability>> capabilities = new HashSet<>(info.capabilities());
    capabilities.add(MemoryForking.class);
    return new ProviderInfo(
        info.name(),
        info.summary(),
        info.apiVersion(),
        info.isolation(),
        capabilities,
        info.support(),
        info.prerequisites(),
        info.cleanup(),
        info.startup(),
        info.hosting());
  }

  @Override
  public Health health() {
    return files.health();
  }

  @Override
  public Sandbox create(SandboxSpec spec) {
    return sandboxes.computeIfAbsent(
        spec.id(), _ -> new FakeSandbox(spec, files.create(spec), Optional.empty()));
  }

  @Override
  public Optional<Sandbox> attach(SandboxId id) {
    return Optional.<Sandbox>ofNullable(sandboxes.get(id))
        .filter(_ -> files.attach(id).isPresent());
  }

  @Override
  public List<InventoryItem> inventory() {
    return files.inventory();
  }

  @Override
  public void destroy(SandboxId id, DestroyOptions options) {
    sandboxes.remove(id);
    files.destroy(id, options);
  }

  @Override
  public void close() {
    files.close();
  }

  private boolean forksAreTheSource() {
    return fault == ForkFault.IS_THE_SOURCE || fault == ForkFault.LOSES_OUTPUT;
  }

  /** A sandbox of the test provider. */
  private final class FakeSandbox implements Sandbox {
    private final SandboxSpec spec;
    private final Sandbox delegate;
    private final Optional<FakeSandbox> source;
    private final List<Command> started = new CopyOnWriteArrayList<>();
    private final Map<String, String> leaked = new ConcurrentHashMap<>();
    private final AtomicBoolean loses = new AtomicBoolean();

    FakeSandbox(SandboxSpec spec, Sandbox delegate, Optional<FakeSandbox> source) {
      this.spec = spec;
      this.delegate = delegate;
      this.source = source;
    }

    @Override
    public SandboxId id() {
      return spec.id();
    }

    @Override
    public SandboxState state() {
      return delegate.state();
    }

    @Override
    public Execution start(Command command) {
      started.add(command);
      Execution execution =
          delegate.start(
              source.map(one -> distorted(command, one)).orElse(command.withEnv(leaked)));
      return Interception.of(Execution.class, execution, "read", _ -> read(execution));
    }

    private Optional<Output> read(Execution execution) {
      Optional<Output> next = execution.read();
      return next.isPresent() && loses.compareAndSet(true, false) ? execution.read() : next;
    }

    /** Returns what a fork runs instead of a command of the checks. */
    private Command distorted(Command command, FakeSandbox of) {
      return switch (fault) {
        case REPEATS_RANDOM_BYTES ->
            replaced(command, "head -c 16 /dev/urandom", "printf 0123456789abcdef");
        case STANDING_CLOCK -> replaced(command, "date +%s", "date -d '3 seconds ago' +%s");
        case KEEPS_THE_ID -> command.withEnv("ISOLA_SANDBOX", of.id().value());
        default -> command;
      };
    }

    private static Command replaced(Command command, String old, String with) {
      return command.program().contains(old)
          ? Command.shell(command.program().replace(old, with))
          : command;
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

    private MemoryForkPoint createForkPoint() {
      loses.set(fault == ForkFault.LOSES_OUTPUT);
      if (fault == ForkFault.ENDS_THE_SOURCE) {
        Attaching attaching = delegate.as(Attaching.class).orElseThrow();
        attaching.executions().stream()
            .filter(ExecutionInfo::running)
            .forEach(
                one -> {
                  try (Execution ended = attaching.attach(one.id(), 0)) {
                    ended.kill();
                  }
                });
      }
      return new FakeForkPoint(this, delegate.as(Forking.class).orElseThrow().createForkPoint());
    }

    private boolean accepts(SandboxSpec other) {
      return fault == ForkFault.ACCEPTS_ANY_SPEC
          || (other.image().equals(spec.image())
              && other.limits().equals(spec.limits())
              && other.user().equals(spec.user()));
    }

    private FakeSandbox fork(SandboxSpec with, ForkPoint saved) {
      if (!accepts(with)) {
        throw Fault.of(
                ErrorCode.INVALID_REQUEST,
                "a fork has the image, limits and user of its source",
                "leave them out")
            .exception();
      }
      if (fault == ForkFault.SECRET_REACHES_THE_SOURCE) {
        leaked.putAll(with.environment());
      }
      Sandbox copy = forksAreTheSource() ? delegate : saved.create(with);
      FakeSandbox fork = new FakeSandbox(with, copy, Optional.of(this));
      if (fault == ForkFault.RESTARTS_PROGRAMS) {
        started.forEach(command -> fork.start(command).close());
      }
      return fork;
    }
  }

  private final class FakeForkPoint implements MemoryForkPoint {
    private final FakeSandbox source;
    private final ForkPoint saved;

    FakeForkPoint(FakeSandbox source, ForkPoint saved) {
      this.source = source;
      this.saved = saved;
    }

    @Override
    public Duration frozenFor() {
      return fault == ForkFault.FREEZES_TOO_LONG ? Duration.ofMinutes(1) : saved.frozenFor();
    }

    @Override
    public Sandbox create(SandboxSpec spec) {
      return sandboxes.computeIfAbsent(spec.id(), _ -> source.fork(spec, saved));
    }

    @Override
    public InputStream archive() {
      throw new UnsupportedOperationException("the fake stores nothing");
    }

    @Override
    public void close() {
      saved.close();
    }
  }
}
