package dev.isola.engine.crash;

import dev.isola.spi.SandboxState;
import dev.isola.store.IdempotencyKeys;
import dev.isola.store.KeyClaim;
import dev.isola.store.Ledger;
import dev.isola.store.LedgerEvents;
import dev.isola.store.LedgerParts;
import dev.isola.store.SandboxEntries;
import dev.isola.store.SandboxEntry;
import dev.isola.store.ServerEntries;
import dev.isola.store.SettingEntries;
import dev.isola.store.TemplateEntries;
import dev.isola.store.VolumeEntries;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A real ledger with a bug in its transactions. */
final class BuggyLedger implements Ledger {
  private final Ledger real;
  private final Bug bug;

  /** The bug. */
  interface Bug {
    <T extends @Nullable Object> T atomically(Ledger real, Function<LedgerParts, T> work);
  }

  BuggyLedger(Ledger real, Bug bug) {
    this.real = real;
    this.bug = bug;
  }

  /** Rolls back a transaction. */
  private static final class RollbackException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private RollbackException() {
      super(null, null, false, false);
    }
  }

  /** Acknowledges the transition to running before it is committed. */
  static final class AcknowledgesBeforeCommit implements Bug {
    private static final Duration LATE = Duration.ofMillis(400);

    @Override
    public <T extends @Nullable Object> T atomically(Ledger real, Function<LedgerParts, T> work) {
      boolean[] starts = {false};
      List<T> answers = new ArrayList<>();
      try {
        real.<Boolean>atomically(
            parts -> {
              answers.add(work.apply(watched(parts, starts)));
              throw new RollbackException();
            });
      } catch (RollbackException undone) {
        if (starts[0]) {
          Thread.ofVirtual().start(() -> later(real, work));
          return answers.getLast();
        }
      }
      return real.atomically(work);
    }

    private static void later(Ledger real, Function<LedgerParts, ?> work) {
      LockSupport.parkNanos(LATE.toNanos());
      real.atomically(work);
    }

    private static LedgerParts watched(LedgerParts parts, boolean[] starts) {
      SandboxEntries watched =
          (SandboxEntries)
              Proxy.newProxyInstance(
                  SandboxEntries.class.getClassLoader(),
                  new Class<?>[] {SandboxEntries.class},
                  (self, method, arguments) -> {
                    starts[0] |=
                        method.getName().equals("update")
                            && ((SandboxEntry) arguments[0]).state() == SandboxState.RUNNING;
                    return invoke(method, parts.sandboxes(), arguments);
                  });
      return new Parts(
          watched,
          parts.events(),
          parts.idempotency(),
          parts.settings(),
          parts.volumes(),
          parts.templates(),
          parts.servers());
    }

    private static @Nullable Object invoke(Method method, Object on, @Nullable Object[] arguments)
        throws Throwable {
      try {
        return method.invoke(on, arguments);
      } catch (InvocationTargetException e) {
        throw e.getCause();
      }
    }
  }

  /** Treats every idempotency key as new. */
  static final class ForgetsIdempotencyKeys implements Bug {
    @Override
    public <T extends @Nullable Object> T atomically(Ledger real, Function<LedgerParts, T> work) {
      IdempotencyKeys forgetful =
          (IdempotencyKeys)
              Proxy.newProxyInstance(
                  IdempotencyKeys.class.getClassLoader(),
                  new Class<?>[] {IdempotencyKeys.class},
                  (self, method, arguments) -> new KeyClaim.New());
      return real.atomically(
          parts ->
              work.apply(
                  new Parts(
                      parts.sandboxes(),
                      parts.events(),
                      forgetful,
                      parts.settings(),
                      parts.volumes(),
                      parts.templates(),
                      parts.servers())));
    }
  }

  private record Parts(
      SandboxEntries sandboxes,
      LedgerEvents events,
      IdempotencyKeys idempotency,
      SettingEntries settings,
      VolumeEntries volumes,
      TemplateEntries templates,
      ServerEntries servers)
      implements LedgerParts {}

  @Override
  public <T extends @Nullable Object> T atomically(Function<LedgerParts, T> work) {
    return bug.atomically(real, work);
  }

  @Override
  public ServerEntries servers() {
    return real.servers();
  }

  @Override
  public SandboxEntries sandboxes() {
    return real.sandboxes();
  }

  @Override
  public LedgerEvents events() {
    return real.events();
  }

  @Override
  public IdempotencyKeys idempotency() {
    return real.idempotency();
  }

  @Override
  public VolumeEntries volumes() {
    return real.volumes();
  }

  @Override
  public TemplateEntries templates() {
    return real.templates();
  }

  @Override
  public SettingEntries settings() {
    return real.settings();
  }

  @Override
  public void close() {
    real.close();
  }
}
