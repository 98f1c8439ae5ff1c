package dev.isola.engine.decorator;

import dev.isola.spi.LimitKind;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionId;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Output;
import dev.isola.spi.exec.Signal;
import dev.isola.spi.exec.Terminal;
import java.io.OutputStream;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * An execution that reports its input, output and end. It is a use of the sandbox until its end was
 * observed or it is closed.
 */
class ExecutionDecorator implements Execution {
  private final Execution inner;
  private final SandboxObserver observer;
  private final SandboxObserver.Use use;
  private final AtomicBoolean ended = new AtomicBoolean();
  final ProviderGuard guard;

  ExecutionDecorator(Execution inner, ProviderGuard guard, SandboxObserver observer) {
    this.inner = inner;
    this.guard = guard;
    this.observer = observer;
    use = observer.begin();
  }

  /** Decorates an execution; a terminal remains one. */
  static Execution of(Execution inner, ProviderGuard guard, SandboxObserver observer) {
    return inner instanceof Terminal terminal
        ? new TerminalDecorator(terminal, guard, observer)
        : new ExecutionDecorator(inner, guard, observer);
  }

  @Override
  public ExecutionId id() {
    return guard.direct("id", inner::id);
  }

  @Override
  public long pid() {
    return guard.direct("pid", inner::pid);
  }

  @Override
  public OutputStream stdin() {
    return observer.input(guard.direct("stdin", inner::stdin));
  }

  @Override
  public Optional<Output> read() {
    Optional<Output> piece = reportingErrors("read", inner::read);
    if (piece.isEmpty()) {
      use.close();
    } else if (piece.get() instanceof Output.Data data) {
      observer.output(data.bytes().size());
    }
    return piece;
  }

  @Override
  public Exit await() {
    return reportEnd(reportingErrors("await", inner::await));
  }

  @Override
  public Optional<Exit> await(Duration timeout) {
    return this.<Optional<Exit>>reportingErrors("await", () -> inner.await(timeout))
        .map(this::reportEnd);
  }

  private Exit reportEnd(Exit exit) {
    use.close();
    if (ended.compareAndSet(false, true)) {
      observer.ended(id(), exit, duration());
    }
    return exit;
  }

  private <T> T reportingErrors(String what, Supplier<? extends @Nullable T> call) {
    try {
      return guard.direct(what, call);
    } catch (SandboxException e) {
      observer.commandFailed(e);
      throw e;
    }
  }

  @Override
  public Set<LimitKind> limitsMet() {
    return guard.direct("limitsMet", inner::limitsMet);
  }

  @Override
  public Duration duration() {
    return guard.direct("duration", inner::duration);
  }

  @Override
  public void signal(Signal signal) {
    guard.runDirect("signal", () -> inner.signal(signal));
  }

  @Override
  public void kill() {
    guard.runDirect("kill", inner::kill);
  }

  @Override
  public void close() {
    try (use) {
      guard.runDirect("close", inner::close);
    } finally {
      observer.detached(id());
    }
  }

  @Override
  public String toString() {
    return inner.toString();
  }
}
