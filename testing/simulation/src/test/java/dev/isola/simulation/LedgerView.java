package dev.isola.simulation;

import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.store.IdempotencyKeys;
import dev.isola.store.Ledger;
import dev.isola.store.LedgerEvents;
import dev.isola.store.LedgerParts;
import dev.isola.store.SandboxEntries;
import dev.isola.store.SandboxEntry;
import dev.isola.store.ServerEntries;
import dev.isola.store.SettingEntries;
import dev.isola.store.TemplateEntries;
import dev.isola.store.UpdateResult;
import dev.isola.store.VolumeEntries;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Collection;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The ledger as one server reaches it: counts the round trips of each operation, and fails calls
 * whose answer the network loses.
 */
final class LedgerView implements Ledger {
  /** What becomes of a call. */
  enum Fate {
    ANSWERED,
    /** The call has no effect, and the caller does not know. */
    LOST_BEFORE,
    /** The call takes effect, and the caller does not know. */
    LOST_AFTER,
    /** The database is not reachable. */
    DOWN
  }

  private final World world;
  private final SimulatedServer server;
  private final SandboxEntries sandboxes;
  private final ServerEntries servers;
  private final SettingEntries settings;
  private Operation operation = Operation.HEARTBEAT;
  private Fate fate = Fate.ANSWERED;

  LedgerView(World world, SimulatedServer server) {
    this.world = world;
    this.server = server;
    sandboxes = proxy(SandboxEntries.class, world.ledger.sandboxes());
    servers = proxy(ServerEntries.class, world.ledger.servers());
    settings = proxy(SettingEntries.class, world.ledger.settings());
  }

  /** Sets the purpose of the following calls, and what becomes of the first of them. */
  void begin(Operation purpose, Fate first) {
    operation = purpose;
    fate = first;
  }

  private <T> T proxy(Class<T> type, T target) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (_, method, arguments) -> call(target, method, arguments)));
  }

  private @Nullable Object call(Object target, Method method, Object @Nullable [] arguments)
      throws Throwable {
    Fate current = fate;
    fate = Fate.ANSWERED;
    if (current == Fate.DOWN) {
      throw failure(ErrorCode.PROVIDER_UNAVAILABLE, "the database is down");
    }
    if (current == Fate.LOST_BEFORE) {
      world.roundTrips.count(operation, 1);
      throw failure(ErrorCode.OUTCOME_UNKNOWN, "the answer was lost");
    }
    Optional<SandboxEntry> before =
        method.getName().equals("update") && arguments != null
            ? world.ledger.sandboxes().find(((SandboxEntry) arguments[0]).id())
            : Optional.empty();
    try {
      Object result = method.invoke(target, arguments);
      world.roundTrips.count(operation, roundTrips(arguments, result));
      if (result instanceof UpdateResult.Written(SandboxEntry after)) {
        world.monitor.wrote(server, before.orElseThrow(), after);
      }
      if (current == Fate.LOST_AFTER) {
        throw failure(ErrorCode.OUTCOME_UNKNOWN, "the answer was lost");
      }
      return result;
    } catch (InvocationTargetException e) {
      throw e.getCause() == null ? e : e.getCause();
    }
  }

  /** Lists are read in pages, and long lists of ids are sent in parts. */
  private static long roundTrips(Object @Nullable [] arguments, @Nullable Object result) {
    int sent = arguments != null && arguments[0] instanceof Collection<?> ids ? ids.size() : 0;
    int received = result instanceof Collection<?> list ? list.size() : 0;
    return 1L + Math.max(sent, received) / SandboxEntries.MAX_LIMIT;
  }

  private static SandboxException failure(ErrorCode code, String problem) {
    return Fault.of(code, problem, "read before retrying").exception();
  }

  /** Returns whether the ledger has a sandbox of a provider that is not destroyed. */
  boolean isOpen(SandboxId id, String provider) {
    return provider.equals(sandboxes.findOpen(java.util.List.of(id)).get(id));
  }

  @Override
  public SandboxEntries sandboxes() {
    return sandboxes;
  }

  @Override
  public ServerEntries servers() {
    return servers;
  }

  @Override
  public LedgerEvents events() {
    return world.ledger.events();
  }

  @Override
  public IdempotencyKeys idempotency() {
    return world.ledger.idempotency();
  }

  @Override
  public SettingEntries settings() {
    return settings;
  }

  @Override
  public VolumeEntries volumes() {
    return world.ledger.volumes();
  }

  @Override
  public TemplateEntries templates() {
    return world.ledger.templates();
  }

  @Override
  public <T extends @Nullable Object> T atomically(Function<LedgerParts, T> work) {
    throw new UnsupportedOperationException("the simulation uses single calls");
  }

  @Override
  public void close() {}
}
