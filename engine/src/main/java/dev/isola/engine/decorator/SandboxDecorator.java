package dev.isola.engine.decorator;

import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.EgressAccess;
import dev.isola.spi.capability.GuestProtocolAccess;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.OutputLimit;
import dev.isola.spi.file.FileSystem;
import java.util.Optional;

/**
 * A sandbox of a provider as the engine and its clients use it. Its methods, and those of the
 * objects that it returns, throw only the exceptions of the contract. Methods that wait for the
 * backend and have no deadline of their own have a timeout; all others, mainly of commands and
 * files, run on the thread of the caller, because the provider ends every wait itself. An observer
 * is told what clients do.
 *
 * <p>It has exactly the capabilities of the sandbox of the provider.
 */
public final class SandboxDecorator implements Sandbox {
  private final Sandbox inner;
  private final ProviderGuard guard;
  private final TimeLimits limits;
  private final SandboxObserver observer;

  SandboxDecorator(
      Sandbox inner, ProviderGuard guard, TimeLimits limits, SandboxObserver observer) {
    this.inner = inner;
    this.guard = guard;
    this.limits = limits;
    this.observer = observer;
  }

  /** Returns this sandbox for a client whose use is observed. */
  public Sandbox observedBy(SandboxObserver client) {
    return new SandboxDecorator(inner, guard, limits, client);
  }

  @Override
  public SandboxId id() {
    return guard.direct("id", inner::id);
  }

  @Override
  public SandboxState state() {
    return guard.direct("state", inner::state);
  }

  @Override
  public Execution start(Command command) {
    try {
      Execution execution =
          ExecutionDecorator.of(guard.direct("start", () -> inner.start(command)), guard, observer);
      observer.started(execution);
      return execution;
    } catch (SandboxException e) {
      observer.commandFailed(e);
      throw e;
    }
  }

  /** Delegates, because the provider may implement this faster than by starting and reading. */
  @Override
  public ExecResult run(Command command, OutputLimit limit) {
    try (SandboxObserver.Use _ = observer.begin()) {
      ExecResult result = guard.direct("run", () -> inner.run(command, limit));
      observer.ran(result);
      return result;
    } catch (SandboxException e) {
      observer.commandFailed(e);
      throw e;
    }
  }

  @Override
  public FileSystem files() {
    return new FilesDecorator(guard.direct("files", inner::files), guard, observer);
  }

  @Override
  public <C extends Capability> Optional<C> as(Class<C> capability) {
    return guard
        .<Optional<C>>direct("as", () -> inner.as(capability))
        .map(found -> new CapabilityDecorator(guard, limits, observer).decorate(capability, found));
  }

  @Override
  public Optional<EgressAccess> egress() {
    return guard
        .<Optional<EgressAccess>>direct("egress", inner::egress)
        .map(access -> new EgressDecorator(access, guard));
  }

  /** An open channel is a use of the sandbox. */
  @Override
  public Optional<GuestProtocolAccess> guestProtocol() {
    return guard
        .<Optional<GuestProtocolAccess>>direct("guestProtocol", inner::guestProtocol)
        .map(
            access ->
                secret ->
                    new ConnectionDecorator(
                        guard.direct("open", () -> access.open(secret)), guard, observer.begin()));
  }

  @Override
  public String toString() {
    return inner.toString();
  }
}
