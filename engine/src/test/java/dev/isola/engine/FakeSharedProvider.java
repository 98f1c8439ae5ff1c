package dev.isola.engine;

import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.provider.ProviderProfile;
import dev.isola.spi.spec.SandboxSpec;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** A backend in memory that several engines reach, each through a provider of its own. */
final class FakeSharedProvider implements Provider, ProviderFactory {
  private final FakeProvider description;
  private final Map<SandboxId, Instant> running;
  final AtomicInteger attached = new AtomicInteger();
  final AtomicInteger inventories = new AtomicInteger();

  /** Lets this server see nothing of the backend in its inventories. */
  volatile boolean blind;

  /** Runs when the backend has a sandbox and the server does not know yet. */
  volatile AfterCreate afterCreate = () -> {};

  /** What happens between a create and its answer. */
  interface AfterCreate {
    void run() throws InterruptedException;
  }

  /** Runs before a sandbox is destroyed through this server. */
  volatile Consumer<SandboxId> beforeDestroy = id -> {};

  final ConcurrentLinkedQueue<SandboxId> destroyed;

  private FakeSharedProvider(
      FakeProvider description,
      Map<SandboxId, Instant> running,
      ConcurrentLinkedQueue<SandboxId> destroyed) {
    this.description = description;
    this.running = running;
    this.destroyed = destroyed;
  }

  FakeSharedProvider(String name) {
    this(new FakeProvider(name), new ConcurrentHashMap<>(), new ConcurrentLinkedQueue<>());
  }

  /** Ends a sandbox without a server, as the backend does when a machine fails. */
  void lose(SandboxId id) {
    running.remove(id);
  }

  /** Returns a provider of another server for the same backend. */
  FakeSharedProvider ofAnotherServer() {
    return new FakeSharedProvider(description, running, destroyed);
  }

  Map<SandboxId, Instant> running() {
    return new ConcurrentSkipListMap<>(running);
  }

  @Override
  public String name() {
    return description.name();
  }

  @Override
  public ProviderProfile profile() {
    return description.profile().reachableFromEveryServer();
  }

  @Override
  public Provider create(ProviderConfig given, ProviderContext context) {
    return this;
  }

  @Override
  public ProviderInfo info() {
    return description.info();
  }

  @Override
  public Health health() {
    return new Health.Healthy("always");
  }

  @Override
  public Sandbox create(SandboxSpec spec) {
    running.put(spec.id(), Instant.now());
    try {
      afterCreate.run();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return sandbox(spec.id());
  }

  private static Sandbox sandbox(SandboxId id) {
    return new FakeSandbox(id, Optional::empty, UnsupportedOperationException::new);
  }

  @Override
  public Optional<Sandbox> attach(SandboxId id) {
    attached.incrementAndGet();
    return running.containsKey(id) ? Optional.of(sandbox(id)) : Optional.empty();
  }

  @Override
  public List<InventoryItem> inventory() {
    inventories.incrementAndGet();
    if (blind) {
      return List.of();
    }
    return running.entrySet().stream()
        .map(one -> new InventoryItem(one.getKey(), SandboxState.RUNNING, one.getValue(), Map.of()))
        .toList();
  }

  @Override
  public void destroy(SandboxId id, DestroyOptions how) {
    beforeDestroy.accept(id);
    if (running.remove(id) != null) {
      destroyed.add(id);
    }
  }

  @Override
  public void close() {
    // Nothing is open.
  }
}
