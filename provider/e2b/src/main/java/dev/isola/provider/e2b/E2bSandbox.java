package dev.isola.provider.e2b;

import dev.isola.provider.e2b.exec.CommandStarter;
import dev.isola.provider.e2b.exec.SandboxContext;
import dev.isola.provider.e2b.file.E2bFiles;
import dev.isola.provider.e2b.file.E2bWatch;
import dev.isola.provider.e2b.rpc.EnvdClient;
import dev.isola.provider.e2b.rpc.SandboxLiveness;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Renewing;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.capability.Watching;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.file.FileSystem;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;

/** A sandbox at E2B or at another service with the same API. */
final class E2bSandbox implements Sandbox, SandboxLiveness {
  private static final Duration PAUSE_TIMEOUT = Duration.ofMinutes(2);

  private final SandboxMetadata sandboxMetadata;
  private final String name;
  private final E2bApiClient control;
  private final Set<Class<? extends Capability>> declared;
  private final SandboxContext context;
  private final CommandStarter starter;
  private final FileSystem files;
  private volatile SandboxState state;

  /**
   * @param name the sandbox id at E2B
   * @param envd creates the envd client, given the liveness of this sandbox
   */
  E2bSandbox(
      SandboxMetadata sandboxMetadata,
      String name,
      SandboxState state,
      E2bApiClient control,
      Set<Class<? extends Capability>> declared,
      BiFunction<String, SandboxLiveness, EnvdClient> envd) {
    this.sandboxMetadata = sandboxMetadata;
    this.name = name;
    this.state = state;
    this.control = control;
    this.declared = declared;
    this.context =
        new SandboxContext(
            sandboxMetadata.id(),
            envd.apply(name, this),
            this,
            sandboxMetadata.folder(),
            sandboxMetadata.user(),
            sandboxMetadata.timeout());
    this.starter = new CommandStarter(context);
    this.files = new E2bFiles(context);
  }

  SandboxContext context() {
    return context;
  }

  String name() {
    return name;
  }

  /** Records a state that was observed elsewhere. */
  void updateState(SandboxState seen) {
    if (state != SandboxState.DESTROYED) {
      state = seen;
    }
  }

  @Override
  public SandboxId id() {
    return sandboxMetadata.id();
  }

  @Override
  public SandboxState state() {
    return state;
  }

  @Override
  public Execution start(Command command) {
    requireRunning();
    return starter.start(command);
  }

  @Override
  public FileSystem files() {
    return files;
  }

  @Override
  public <C extends Capability> Optional<C> as(Class<C> capability) {
    return declared.contains(capability)
        ? Optional.of(capability.cast(implementation(capability)))
        : Optional.empty();
  }

  private Capability implementation(Class<? extends Capability> capability) {
    if (capability == Terminals.class) {
      return (Terminals) starter::open;
    }
    if (capability == Watching.class) {
      return (Watching) (path, recursive) -> E2bWatch.of(context, path, recursive);
    }
    if (capability == Renewing.class) {
      return (Renewing) this::renew;
    }
    if (capability == UsageReporting.class) {
      return new MachineUsage(context);
    }
    return new E2bPausing();
  }

  private void renew(Duration fromNow) {
    callApi(() -> control.renew(name, fromNow));
  }

  private final class E2bPausing implements Pausing {
    @Override
    public Set<PauseKind> kinds() {
      return Set.of(PauseKind.MEMORY);
    }

    @Override
    public void pause(PauseKind kind) {
      if (kind != PauseKind.MEMORY) {
        throw Capability.unsupported(E2bDescription.NAME, "filesystem pause");
      }
      callApi(() -> control.pause(name, PAUSE_TIMEOUT));
      updateState(SandboxState.PAUSED);
    }

    @Override
    public void resume() {
      callApi(() -> control.resume(name, PAUSE_TIMEOUT));
      updateState(SandboxState.RUNNING);
    }
  }

  /** Runs an API call. If the API does not know the sandbox, it is gone. */
  private void callApi(Runnable call) {
    if (state == SandboxState.DESTROYED) {
      throw gone();
    }
    try {
      call.run();
    } catch (NotFound e) {
      state = SandboxState.DESTROYED;
      throw gone();
    }
  }

  @Override
  public void requireRunning() {
    switch (state) {
      case DESTROYED -> throw gone();
      case PAUSED -> throw paused();
      default -> {}
    }
  }

  @Override
  public Optional<SandboxException> notRunningReason() {
    if (state == SandboxState.DESTROYED) {
      return Optional.of(gone());
    }
    Optional<SandboxState> seen;
    try {
      seen = control.state(name);
    } catch (SandboxException e) {
      return Optional.empty(); // Unknown now; returns the last state.
    }
    updateState(seen.orElse(SandboxState.DESTROYED));
    if (seen.isEmpty()) {
      return Optional.of(gone());
    }
    return seen.get() == SandboxState.PAUSED ? Optional.of(paused()) : Optional.empty();
  }

  private SandboxException gone() {
    return Fault.of(
            ErrorCode.SANDBOX_DESTROYED,
            "sandbox " + id() + " no longer exists",
            "create a new sandbox")
        .sandbox(id())
        .exception();
  }

  private SandboxException paused() {
    return Fault.of(ErrorCode.ILLEGAL_STATE, "sandbox " + id() + " is paused", "resume it first")
        .sandbox(id())
        .exception();
  }
}
