package dev.isola.link.local;

import dev.isola.codec.time.Deadline;
import dev.isola.link.AgentAbsentException;
import dev.isola.link.AgentConnector;
import dev.isola.link.AgentEndpoint;
import dev.isola.link.AgentSandbox;
import dev.isola.link.BootRecord;
import dev.isola.link.HeldAgent;
import dev.isola.link.KernelEvidence;
import dev.isola.link.LinkTimeouts;
import dev.isola.link.UnixSocketConnector;
import dev.isola.link.local.Booter.BootRequest;
import dev.isola.link.local.Booter.BootedSandbox;
import dev.isola.link.local.LocalMemoryForking.LocalMemoryForkPoint;
import dev.isola.link.local.MemoryForker.RestoredSandbox;
import dev.isola.link.local.SandboxRecordStore.StoredSandbox;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Forking;
import dev.isola.spi.capability.Forking.ForkPoint;
import dev.isola.spi.capability.MemoryForking;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Volumes;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.Gone;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.HostResources;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.provider.SandboxInitializer;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A provider whose sandboxes are guest agents on this machine. The folder of a sandbox holds all of
 * its state, so that any process of this instance can find it, attach to it and destroy it. The
 * {@link Booter} boots it.
 */
public final class LocalProvider implements Provider {
  private static final Duration END_TIMEOUT = Duration.ofSeconds(2);
  private static final Duration LOOK_AGAIN = Duration.ofMillis(10);

  /** A destroyed agent that does not answer soon is killed. */
  private static final LinkTimeouts DESTROY_TIMEOUTS =
      LinkTimeouts.DEFAULT.withConnectTimeout(Duration.ofSeconds(1));

  private final ProviderContext context;
  private final Booter booter;
  private final SandboxRecordStore store;
  private final SandboxLocks locks = new SandboxLocks();
  private final Map<SandboxId, AgentSandbox> attached = new ConcurrentHashMap<>();
  private final LocalPausing pausing;
  private volatile @Nullable ProviderInfo info;

  public LocalProvider(ProviderContext context, Booter booter) {
    this.context = context;
    this.booter = booter;
    this.store = SandboxRecordStore.in(context.dataFolder());
    this.pausing = new LocalPausing(booter, store, locks, attached, () -> info().name());
  }

  @Override
  public ProviderInfo info() {
    ProviderInfo cached = info;
    if (cached == null) {
      Set<Class<? extends Capability>> capabilities = new HashSet<>(booter.agentCapabilities());
      capabilities.addAll(capabilities().keySet());
      booter.volumes().ifPresent(_ -> capabilities.add(Volumes.class));
      cached = booter.info(capabilities);
      info = cached;
    }
    return cached;
  }

  /** Returns how a sandbox gets the capabilities that its agent alone does not have. */
  private Map<Class<? extends Capability>, Function<SandboxId, Capability>> capabilities() {
    Map<Class<? extends Capability>, Function<SandboxId, Capability>> found = new HashMap<>();
    if (!pausing.kinds().isEmpty()) {
      found.put(Pausing.class, pausing::of);
    }
    booter
        .forker()
        .ifPresent(
            forker ->
                found.put(
                    Forking.class, id -> new LocalForking(id, forker, store, locks, this::create)));
    memoryForking().ifPresent(forking -> found.put(MemoryForking.class, forking::of));
    return found;
  }

  private Optional<LocalMemoryForking> memoryForking() {
    return booter
        .memoryForker()
        .map(forker -> new LocalMemoryForking(forker, store, locks, attached, this::create));
  }

  @Override
  public Health health() {
    Path dataFolder = context.dataFolder();
    if (!Files.isDirectory(dataFolder) || !Files.isWritable(dataFolder)) {
      return new Health.Unhealthy(
          "the data folder " + dataFolder + " is not writable",
          "make it writable, or choose another with --data");
    }
    return booter.health();
  }

  @Override
  public Optional<HostResources> resources() {
    return LocalResources.read(Path.of("/proc"), context.dataFolder());
  }

  @Override
  public Sandbox create(SandboxSpec spec) {
    return create(spec, List.of());
  }

  private Sandbox create(SandboxSpec spec, List<String> layers) {
    requireSupported(spec);
    try (SandboxLocks.HeldLock _ = locks.take(spec.id())) {
      Optional<Sandbox> existing = attachLocked(spec.id());
      return existing.isPresent() ? existing.get() : boot(spec, store(spec, false), layers);
    }
  }

  private Sandbox create(SandboxSpec spec, LocalMemoryForkPoint origin) {
    requireSupported(spec);
    try (SandboxLocks.HeldLock _ = locks.take(spec.id())) {
      Optional<Sandbox> existing = attachLocked(spec.id());
      return existing.isPresent() ? existing.get() : restore(spec, store(spec, true), origin);
    }
  }

  private void requireSupported(SandboxSpec spec) {
    info().requireSupported(spec);
    booter.validate(spec);
  }

  /** Creates the folder of a sandbox. */
  private StoredSandbox store(SandboxSpec spec, boolean unverified) {
    SandboxFolder folder = store.of(spec.id());
    if (folder.exists()) {
      throw Fault.of(
              ErrorCode.CONFLICT,
              "leftovers of an earlier sandbox exist: " + spec.id(),
              "destroy that sandbox first, or use another id")
          .sandbox(spec.id())
          .exception();
    }
    removeAbandonedSandboxes();
    UnixSocketConnector.requireValidPath(folder.socket());
    return store(spec, folder, unverified);
  }

  /** Removes what is left of a sandbox that could not be started, and returns the error. */
  private RuntimeException startFailed(SandboxId id, Exception failure) {
    cleanUp(id, failure);
    return failure instanceof IOException e ? createFailed(id, e) : (RuntimeException) failure;
  }

  private StoredSandbox store(SandboxSpec spec, SandboxFolder folder, boolean unverified) {
    SandboxId id = spec.id();
    SandboxRecord record =
        SandboxRecord.forSpec(
            spec,
            context.instance().value(),
            context.clock().instant(),
            folder,
            BootRecord.newSecret());
    try {
      store.create(record, unverified);
      return new StoredSandbox(folder, record);
    } catch (FileAlreadyExistsException e) {
      throw Fault.of(
              ErrorCode.CONFLICT,
              "another process is creating sandbox " + id,
              "attach to the sandbox, or use another id")
          .sandbox(id)
          .exception(e);
    } catch (IOException e) {
      throw createFailed(id, e);
    }
  }

  private SandboxException createFailed(SandboxId id, IOException e) {
    return Fault.of(
            ErrorCode.SPAWN_FAILED,
            "the sandbox's folder cannot be created: " + e.getMessage(),
            "check the free space and permissions of " + store.path())
        .sandbox(id)
        .exception(e);
  }

  private Sandbox restore(SandboxSpec spec, StoredSandbox stored, LocalMemoryForkPoint origin) {
    try {
      return restoreSandbox(spec, stored, origin);
    } catch (IOException | RuntimeException e) {
      throw startFailed(spec.id(), e);
    }
  }

  /** Nothing of the saved processes runs before its new identity is verified. */
  private Sandbox restoreSandbox(
      SandboxSpec spec, StoredSandbox stored, LocalMemoryForkPoint origin) throws IOException {
    SandboxFolder folder = stored.folder();
    SandboxRecord record = stored.record();
    AgentEndpoint first = endpoint(stored);
    RestoredSandbox restored;
    try {
      restored =
          origin.restore(new BootRequest(spec, record, folder, List.of(), spec.startupTimeout()));
    } catch (IOException | RuntimeException e) {
      first.close();
      throw e;
    }
    record = record.withAgent(restored.agent());
    record.write(folder.record());
    origin.verify(
        spec.id(), HeldAgent.identify(spec.id(), first, origin.secret(), restored.record()));
    AgentSandbox sandbox = sandbox(new StoredSandbox(folder, record), LinkTimeouts.DEFAULT);
    attached.put(spec.id(), sandbox);
    sandbox.connect();
    booter.verify(new BootedSandbox(sandbox, folder, restored.agent()));
    Files.delete(folder.unverified());
    KernelEvidence continued = sandbox.release();
    assert continued != null;
    return sandbox;
  }

  private Sandbox boot(SandboxSpec spec, StoredSandbox stored, List<String> layers) {
    Deadline deadline = Deadline.in(spec.startupTimeout());
    SandboxFolder folder = stored.folder();
    SandboxRecord record = stored.record();
    try {
      AgentSandbox sandbox = sandbox(stored, LinkTimeouts.DEFAULT);
      attached.put(spec.id(), sandbox);
      AgentProcess agent =
          booter.boot(new BootRequest(spec, record, folder, layers, spec.startupTimeout()));
      record = record.withAgent(agent);
      Thread.startVirtualThread(() -> connectEarly(sandbox));
      record.write(folder.record());
      sandbox.connect();
      booter.verify(new BootedSandbox(sandbox, folder, agent));
      SandboxInitializer.initialize(sandbox, spec, deadline::left);
      return sandbox;
    } catch (IOException | RuntimeException e) {
      throw startFailed(spec.id(), e);
    }
  }

  /**
   * Connects in the background while the record is written; the later connect reports a failure.
   */
  private static void connectEarly(AgentSandbox sandbox) {
    try {
      sandbox.connect();
    } catch (SandboxException reportedLater) {
      // Reported by the later connect.
    }
  }

  @Override
  public Optional<Sandbox> attach(SandboxId id) {
    return locks.withLock(id, () -> attachLocked(id));
  }

  @Override
  public Optional<String> imageDigest(SandboxSpec spec) {
    return booter.imageDigest(spec);
  }

  @Override
  public ForkPoint openForkPoint(InputStream archive) {
    Optional<LocalMemoryForking> forking = memoryForking();
    return forking.isPresent()
        ? forking.get().open(archive)
        : Provider.super.openForkPoint(archive);
  }

  @Override
  public Optional<Volumes> volumes() {
    return booter.volumes();
  }

  private Optional<Sandbox> attachLocked(SandboxId id) {
    Optional<StoredSandbox> stored =
        store
            .find(id)
            .filter(
                found ->
                    isOurs(found)
                        && !Files.exists(found.folder().unverified())
                        && (found.record().stopped() || found.record().isAlive()));
    if (stored.isEmpty()) {
      return Optional.empty();
    }
    AgentSandbox existing = attached.get(id);
    if (existing != null && existing.state() != SandboxState.DESTROYED) {
      return Optional.of(existing);
    }
    AgentSandbox sandbox = sandbox(stored.get(), LinkTimeouts.DEFAULT);
    sandbox.setState(pausing.stateOf(stored.get().record()));
    try {
      if (sandbox.state() == SandboxState.RUNNING) {
        recover(stored.get());
        sandbox.ping();
        if (booter.memoryForker().isPresent()) {
          sandbox.releaseIfHeld();
        }
      }
    } catch (Gone e) {
      sandbox.close();
      return Optional.empty();
    } catch (RuntimeException e) {
      sandbox.close();
      throw e;
    }
    attached.put(id, sandbox);
    return Optional.of(sandbox);
  }

  private void recover(StoredSandbox stored) {
    try {
      booter.recover(stored.record().id(), stored.folder());
    } catch (IOException e) {
      if (endsSoon(stored.record())) {
        throw Fault.of(
                ErrorCode.SANDBOX_DESTROYED,
                "sandbox " + stored.record().id() + " has ended",
                "create a new sandbox")
            .sandbox(stored.record().id())
            .exception(e);
      }
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "sandbox "
                  + stored.record().id()
                  + " has an unfinished fork of a server process that was killed,"
                  + " which cannot be completed: "
                  + e.getMessage(),
              "attach again, or destroy the sandbox")
          .sandbox(stored.record().id())
          .exception(e);
    }
  }

  /** A sandbox whose runtime hung up may be about to end, for example at its deadline. */
  private static boolean endsSoon(SandboxRecord record) {
    return Deadline.in(END_TIMEOUT).await(LOOK_AGAIN, () -> !record.isAlive());
  }

  /** Never touches sandboxes of another instance, even in a folder shared by mistake. */
  private boolean isOurs(StoredSandbox stored) {
    return stored.record().instance().equals(context.instance().value());
  }

  private AgentSandbox sandbox(StoredSandbox stored, LinkTimeouts timeouts) {
    return sandbox(stored, endpoint(stored), timeouts);
  }

  /**
   * Returns a sandbox to destroy. If its socket cannot be created, for example on a full disk, its
   * processes are killed without the help of the agent.
   */
  private AgentSandbox sandboxToDestroy(StoredSandbox stored) {
    AgentEndpoint endpoint;
    try {
      endpoint = endpoint(stored);
    } catch (SandboxException e) {
      endpoint = unreachable(e);
    }
    return sandbox(stored, endpoint, DESTROY_TIMEOUTS);
  }

  private static AgentConnector unreachable(SandboxException cause) {
    return timeout -> {
      throw AgentAbsentException.permanent(cause.fault().problem(), cause);
    };
  }

  private AgentSandbox sandbox(
      StoredSandbox stored, AgentEndpoint endpoint, LinkTimeouts timeouts) {
    SandboxRecord record = stored.record();
    Map<Class<? extends Capability>, Capability> provided = new HashMap<>();
    capabilities().forEach((type, of) -> provided.put(type, of.apply(record.id())));
    AgentSandbox.Builder sandbox =
        AgentSandbox.builder(record.id(), endpoint, record.secret())
            .capabilities(booter.agentCapabilities())
            .providerCapabilities(provided)
            .commandTimeout(record.commandTimeout())
            .timeouts(timeouts);
    booter.configure(record.id(), stored.folder(), sandbox);
    return sandbox.build();
  }

  private AgentEndpoint endpoint(StoredSandbox stored) {
    SandboxId id = stored.record().id();
    try {
      return booter.endpoint(id, stored.folder(), () -> isAlive(id));
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "the socket of sandbox " + id + " cannot be created: " + e.getMessage(),
              "check the free space and permissions of " + store.path())
          .sandbox(id)
          .exception(e);
    }
  }

  /** Reads the record anew, because a restart replaces the agent. */
  private boolean isAlive(SandboxId id) {
    return store.find(id).filter(found -> found.record().isAlive()).isPresent();
  }

  @Override
  public List<InventoryItem> inventory() {
    store.removeUnfinished();
    return store.list(context.instance().value()).stream().map(this::inventoryItem).toList();
  }

  private InventoryItem inventoryItem(StoredSandbox stored) {
    SandboxRecord record = stored.record();
    Map<String, String> details = new LinkedHashMap<>();
    details.put("folder", stored.folder().path().toString());
    details.put("workspace", record.workspace().toString());
    record.agent().ifPresent(agent -> details.put("agentPid", Long.toString(agent.pid())));
    return new InventoryItem(
        record.id(),
        record.stopped() || record.isAlive() ? pausing.stateOf(record) : SandboxState.ERROR,
        record.createdAt(),
        details);
  }

  @Override
  public void destroy(SandboxId id, DestroyOptions options) {
    Supplier<SandboxId> action =
        () -> {
          destroyLocked(id, options);
          return id;
        };
    locks.withLock(id, action);
  }

  private void destroyLocked(SandboxId id, DestroyOptions options) {
    SandboxFolder folder = store.of(id);
    AgentSandbox existing = attached.remove(id);
    Optional<StoredSandbox> stored = store.find(id);
    if (!folder.exists() || (stored.isPresent() && !isOurs(stored.get()))) {
      return;
    }
    if (stored.isPresent()) {
      AgentSandbox sandbox = existing == null ? sandboxToDestroy(stored.get()) : existing;
      pausing.thaw(id, sandbox);
      new SandboxTerminator(stored.get().record(), sandbox).terminate(options);
    }
    try {
      booter.release(id, folder);
      folder.remove();
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "the folder of sandbox " + id + " cannot be removed: " + e.getMessage(),
              "unmount what is mounted there, and destroy the sandbox again")
          .sandbox(id)
          .exception(e);
    }
  }

  /**
   * Removes sandboxes of owners that were killed before they could destroy them. One that cannot be
   * removed now stays in the inventory. Skips the sandboxes of this process: with many of them,
   * reading their records would dominate the cost of a create.
   */
  private void removeAbandonedSandboxes() {
    for (StoredSandbox stored : store.list(context.instance().value(), attached.keySet())) {
      if (stored.record().isAbandoned(context.clock().instant())) {
        // One that is being destroyed right now looks the same; its lock is held.
        locks.tryWithLock(stored.record().id(), () -> removeAbandoned(stored.record().id()));
      }
    }
  }

  private void removeAbandoned(SandboxId id) {
    if (store
        .find(id)
        .filter(stored -> stored.record().isAbandoned(context.clock().instant()))
        .isPresent()) {
      try {
        destroyLocked(id, DestroyOptions.FORCE);
      } catch (SandboxException inUse) {
        // It stays in the inventory.
      }
    }
  }

  private void cleanUp(SandboxId id, Exception cause) {
    AgentSandbox unfinished = attached.remove(id);
    if (unfinished != null) {
      unfinished.close(); // the destruction has shorter timeouts
    }
    try {
      destroyLocked(id, DestroyOptions.FORCE);
    } catch (SandboxException e) {
      cause.addSuppressed(e);
    }
  }

  @Override
  public void close() {
    attached.values().forEach(AgentSandbox::close);
    attached.clear();
    booter.close();
  }
}
