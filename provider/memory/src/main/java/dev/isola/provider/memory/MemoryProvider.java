package dev.isola.provider.memory;

import dev.isola.provider.memory.fault.Faults;
import dev.isola.provider.memory.fault.PlantedFault;
import dev.isola.spi.Destroy;
import dev.isola.spi.Health;
import dev.isola.spi.SandboxId;
import dev.isola.spi.Sighting;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.provider.FirstSteps;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.spec.SandboxSpec;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Sandboxes in this JVM: no processes, no files of the host; what a test needs to be quick and
 * repeatable.
 */
final class MemoryProvider implements Provider {
  static final String NAME = "memory";

  private final ProviderContext context;
  private final Faults faults;
  private final World world;
  private final ProviderInfo info;
  private final Map<SandboxId, MemorySandbox> own = new ConcurrentHashMap<>();

  MemoryProvider(ProviderContext context, Faults faults) {
    this.context = context;
    this.faults = faults;
    this.world = World.of(context.dataFolder(), context.instance());
    this.info = MemoryInfo.with(faults);
  }

  @Override
  public ProviderInfo info() {
    return info;
  }

  @Override
  public Health health() {
    return new Health.Healthy("nothing is needed");
  }

  @Override
  public Sandbox create(SandboxSpec spec) {
    info().refuseUnsupported(spec);
    return inTurn(spec.id(), () -> createInTurn(spec));
  }

  private <T> T inTurn(SandboxId id, Supplier<T> action) {
    if (faults.has(PlantedFault.CREATE_RACES)) {
      return action.get();
    }
    ReentrantLock turn = world.turn(id);
    turn.lock();
    try {
      return action.get();
    } finally {
      turn.unlock();
    }
  }

  private Sandbox createInTurn(SandboxSpec spec) {
    MemorySandbox existing = world.sandboxes().get(spec.id());
    if (existing != null && existing.isAlive() && !faults.has(PlantedFault.CREATE_REPLACES)) {
      return existing;
    }
    MemorySandbox made = make(spec);
    try {
      FirstSteps.take(made, spec, spec::startupTimeout);
    } catch (RuntimeException e) {
      made.end("it could not be made");
      throw faults.has(PlantedFault.INIT_FAILURE_IS_THE_PROVIDERS)
          ? Fault.of(ErrorCode.SPAWN_FAILED, "the init command failed", "try again").exception(e)
          : e;
    }
    world.sandboxes().put(spec.id(), made);
    own.put(spec.id(), made);
    spec.deadline().ifPresent(made::renew);
    return made;
  }

  private MemorySandbox make(SandboxSpec spec) {
    MemorySandbox made = new MemorySandbox(spec, context.clock().instant(), faults, this::create);
    if (!faults.has(PlantedFault.CREATE_RACES)) {
      return made;
    }
    LockSupport.parkNanos(20_000_000);
    MemorySandbox first = world.sandboxes().putIfAbsent(spec.id(), made);
    return first == null ? made : first;
  }

  @Override
  public Optional<Sandbox> attach(SandboxId id) {
    return inTurn(
        id,
        () ->
            Optional.<Sandbox>ofNullable(world.sandboxes().get(id))
                .filter(found -> ((MemorySandbox) found).isAlive()));
  }

  @Override
  public List<Sighting> inventory() {
    return world.sandboxes().values().stream()
        .filter(found -> found.isAlive() || faults.has(PlantedFault.DESTROY_LEAVES_SIGHTING))
        .map(MemorySandbox::sighting)
        .sorted(Comparator.comparing(Sighting::createdAt))
        .toList();
  }

  @Override
  public void destroy(SandboxId id, Destroy how) {
    inTurn(
        id,
        () -> {
          MemorySandbox found = world.sandboxes().get(id);
          if (found != null) {
            if (!how.force() && faults.has(PlantedFault.DEEP_TREES_STAY) && found.hasDeepTree()) {
              throw Fault.of(ErrorCode.PROVIDER_UNAVAILABLE, "a path is too long", "no way")
                  .sandbox(id)
                  .exception();
            }
            found.end("it was destroyed");
            own.remove(id);
            if (!faults.has(PlantedFault.DESTROY_LEAVES_SIGHTING)) {
              world.sandboxes().remove(id);
            }
          }
          return id;
        });
  }

  @Override
  public void close() {
    own.values().stream()
        .filter(
            sandbox ->
                sandbox.spec().linger().filter(Duration::isZero).isPresent()
                    || faults.has(PlantedFault.CLOSE_FORGETS))
        .forEach(sandbox -> destroy(sandbox.id(), Destroy.FORCE));
    own.clear();
  }
}
