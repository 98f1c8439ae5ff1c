package dev.isola.testing.provider;

import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.Secret;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.provider.HostResources;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.provider.SandboxInitializer;
import dev.isola.spi.spec.SandboxSpec;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Plants faults in a provider: in create, destroy, inventory and close. */
final class FaultInjectingProvider implements Provider {
  private static final long RACE_MILLIS = 100;
  private static final String PATH_LONGER_THAN_THE_KERNEL_TAKES =
      "find . | awk 'length > 4096 {found = 1} END {exit !found}'";

  private final Provider delegate;
  private final PlantedFaults faults;
  private final Set<SandboxId> created = ConcurrentHashMap.newKeySet();
  private final Map<SandboxId, InventoryItem> destroyed = new ConcurrentHashMap<>();
  private final Map<SandboxId, CountDownLatch> races = new ConcurrentHashMap<>();

  FaultInjectingProvider(Provider delegate, PlantedFaults faults) {
    this.delegate = delegate;
    this.faults = faults;
  }

  @Override
  public ProviderInfo info() {
    return delegate.info();
  }

  @Override
  public Health health() {
    return delegate.health();
  }

  @Override
  public Optional<HostResources> resources() {
    return delegate.resources();
  }

  @Override
  public Sandbox create(SandboxSpec spec) {
    if (faults.has(PlantedFault.CREATE_REPLACES)) {
      delegate.destroy(spec.id(), DestroyOptions.FORCE);
    }
    created.add(spec.id());
    if (faults.has(PlantedFault.VOLUME_FOLLOWS_LINKS) && !spec.volumes().isEmpty()) {
      Sandbox without = delegate.create(SandboxSpec.builder(spec.id()).build());
      return new FaultInjectingSandbox(without, faults, VolumeLinks.of(spec));
    }
    SandboxSpec given = distorted(spec);
    return wrap(
        faults.has(PlantedFault.CREATE_RACES) ? createInARace(given) : createBlaming(given));
  }

  private SandboxSpec distorted(SandboxSpec spec) {
    SandboxSpec.Builder given = spec.toBuilder();
    if (faults.has(PlantedFault.SECRET_VARIABLES_LOST)) {
      spec.secretEnv().keySet().forEach(name -> given.secretEnv(name, Secret.of(new byte[0])));
    }
    return given.build();
  }

  /**
   * Checks for the sandbox before creating it, without a lock: both of two concurrent calls run the
   * init command.
   */
  private Sandbox createInARace(SandboxSpec spec) {
    boolean existed = delegate.attach(spec.id()).isPresent();
    CountDownLatch both = races.computeIfAbsent(spec.id(), any -> new CountDownLatch(2));
    both.countDown();
    try {
      boolean _ = both.await(RACE_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    Sandbox made = delegate.create(spec.toBuilder().clearInitialization().build());
    if (!existed) {
      SandboxInitializer.initialize(made, spec, spec::startupTimeout);
    }
    return made;
  }

  private Sandbox createBlaming(SandboxSpec spec) {
    try {
      return delegate.create(spec);
    } catch (SandboxException e) {
      if (faults.has(PlantedFault.INIT_FAILURE_IS_THE_PROVIDERS)
          && e.code() == ErrorCode.INIT_FAILED) {
        throw Fault.of(ErrorCode.SPAWN_FAILED, "the init command failed", "try again").exception(e);
      }
      throw e;
    }
  }

  private Sandbox wrap(Sandbox sandbox) {
    return new FaultInjectingSandbox(sandbox, faults, VolumeLinks.NONE);
  }

  @Override
  public Optional<Sandbox> attach(SandboxId id) {
    return delegate.attach(id).map(this::wrap);
  }

  @Override
  public Optional<String> imageDigest(SandboxSpec spec) {
    return delegate.imageDigest(spec);
  }

  @Override
  public List<InventoryItem> inventory() {
    return Stream.concat(delegate.inventory().stream(), destroyed.values().stream()).toList();
  }

  @Override
  public void destroy(SandboxId id, DestroyOptions how) {
    if (!how.force() && faults.has(PlantedFault.DEEP_TREES_STAY) && hasDeepTree(id)) {
      throw Fault.of(ErrorCode.PROVIDER_UNAVAILABLE, "a path is too long", "no way")
          .sandbox(id)
          .exception();
    }
    if (faults.has(PlantedFault.DESTROY_LEAVES_INVENTORY_ITEM)) {
      delegate.inventory().stream()
          .filter(seen -> seen.id().equals(id))
          .forEach(seen -> destroyed.put(id, seen));
    }
    delegate.destroy(id, how);
    created.remove(id);
  }

  private boolean hasDeepTree(SandboxId id) {
    return delegate
        .attach(id)
        .filter(found -> found.run(Command.shell(PATH_LONGER_THAN_THE_KERNEL_TAKES)).succeeded())
        .isPresent();
  }

  @Override
  public void close() {
    if (faults.has(PlantedFault.CLOSE_FORGETS)) {
      created.forEach(id -> delegate.destroy(id, DestroyOptions.FORCE));
    }
    delegate.close();
  }
}
