package dev.isola.link.local;

import dev.isola.link.AgentSandbox;
import dev.isola.link.BootRecord;
import dev.isola.link.LinkTimeouts;
import dev.isola.link.UnixSocketConnector;
import dev.isola.link.local.Booter.BootRequest;
import dev.isola.link.local.Booter.BootedSandbox;
import dev.isola.link.local.SandboxRecordStore.StoredSandbox;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Forking;
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
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A provider whose sandboxes are guest agents on this machine. The folder of a sandbox holds all of
 * its state, so that any process of this instance can find it, attach to it and destroy it. The
 * {@link Booter} boots it.
 */
public final class LocalProvider implements Provider {
  /** A destroyed agent that does not answer soon is killed. */
  private static final LinkTimeouts LAST_WORDS =
      LinkTimeouts.DEFAULT.withConnectTimeout(Duration.ofSeconds(1));

  private final ProviderContext context;
  private final Booter booter;
  private final SandboxRecordStore folders;
  private final SandboxLocks turns = new SandboxLocks();
  private final Map<SandboxId, AgentSandbox> attached = new ConcurrentHashMap<>();
  private final LocalPausing pausing;
  private final LocalForking forking;
  private volatile @Nullable ProviderInfo info;

  public LocalProvider(ProviderContext context, Booter booter) {
    this.context = context;
    this.booter = booter;
    this.folders = new SandboxRecordStore(context.dataFolder().resolve("sandboxes"));
    this.pausing = new LocalPausing(booter, folders, turns, attached);
    this.forking = new LocalForking(booter, folders, turns, this::create);
  }

  @Override
  public ProviderInfo info() {
    ProviderInfo known = info;
    if (known == null) {
      known = booter.info();
      info = known;
    }
    return known;
  }

  @Override
  public Health health() {
    Path data = context.dataFolder();
    if (!Files.isDirectory(data) || !Files.isWritable(data)) {
      return new Health.Unhealthy(
          "the data folder " + data + " is not writable",
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
    info().requireSupported(spec);
    booter.validate(spec);
    return turns.withLock(spec.id(), () -> createInTurn(spec, layers));
  }

  private Sandbox createInTurn(SandboxSpec spec, List<String> layers) {
    Optional<Sandbox> existing = attachInTurn(spec.id());
    if (existing.isPresent()) {
      return existing.get();
    }
    SandboxFolder folder = folders.of(spec.id());
    if (folder.exists()) {
      throw Fault.of(
              ErrorCode.CONFLICT,
              "leftovers of an earlier sandbox exist: " + spec.id(),
              "destroy that sandbox first, or use another id")
          .sandbox(spec.id())
          .exception();
    }
    removeWhatShortLivedOwnersLeft();
    UnixSocketConnector.requireValidPath(folder.socket());
    claim(folder, spec.id());
    try {
      return make(spec, folder, layers);
    } catch (IOException e) {
      cleanUp(spec.id(), e);
      throw unmakeable(spec.id(), e);
    } catch (RuntimeException e) {
      cleanUp(spec.id(), e);
      throw e;
    }
  }

  /** Creates the folder; when two processes create the same id at once, one of them succeeds. */
  private void claim(SandboxFolder folder, SandboxId id) {
    try {
      folder.create();
    } catch (FileAlreadyExistsException e) {
      throw Fault.of(
              ErrorCode.CONFLICT,
              "another process is creating sandbox " + id,
              "attach to the sandbox, or use another id")
          .sandbox(id)
          .exception(e);
    } catch (IOException e) {
      throw unmakeable(id, e);
    }
  }

  private SandboxException unmakeable(SandboxId id, IOException e) {
    return Fault.of(
            ErrorCode.SPAWN_FAILED,
            "the sandbox's folder cannot be created: " + e.getMessage(),
            "check the free space and permissions of " + folders.path())
        .sandbox(id)
        .exception(e);
  }

  private Sandbox make(SandboxSpec spec, SandboxFolder folder, List<String> layers)
      throws IOException {
    long deadline = System.nanoTime() + spec.startupTimeout().toNanos();
    SandboxRecord record =
        SandboxRecord.forSpec(
            spec,
            context.instance().value(),
            context.clock().instant(),
            folder,
            BootRecord.newSecret());
    record.writeNew(folder.record());
    AgentProcess agent =
        booter.boot(new BootRequest(spec, record, folder, layers, spec.startupTimeout()));
    record = record.withAgent(agent);
    AgentSandbox sandbox = sandbox(new StoredSandbox(folder, record), LinkTimeouts.DEFAULT);
    Thread.startVirtualThread(() -> connectEarly(sandbox));
    record.write(folder.record());
    attached.put(spec.id(), sandbox);
    sandbox.connect();
    booter.verify(new BootedSandbox(sandbox, folder, agent));
    SandboxInitializer.initialize(
        sandbox, spec, () -> Duration.ofNanos(Math.max(1, deadline - System.nanoTime())));
    return sandbox;
  }

  /**
   * Connects in the background while the record is written; the later connect reports a failure.
   */
  private static void connectEarly(AgentSandbox sandbox) {
    try {
      sandbox.connect();
    } catch (SandboxException toldLater) {
      // Reported by the later connect.
    }
  }

  @Override
  public Optional<Sandbox> attach(SandboxId id) {
    return turns.withLock(id, () -> attachInTurn(id));
  }

  @Override
  public Optional<String> imageDigest(SandboxSpec spec) {
    return booter.imageDigest(spec);
  }

  @Override
  public Optional<Volumes> volumes() {
    return booter.volumes();
  }

  private Optional<Sandbox> attachInTurn(SandboxId id) {
    Optional<StoredSandbox> known =
        folders
            .find(id)
            .filter(
                found -> isOurs(found) && (found.record().stopped() || found.record().isAlive()));
    if (known.isEmpty()) {
      return Optional.empty();
    }
    AgentSandbox before = attached.get(id);
    if (before != null && before.state() != SandboxState.DESTROYED) {
      return Optional.of(before);
    }
    AgentSandbox sandbox = sandbox(known.get(), LinkTimeouts.DEFAULT);
    sandbox.setState(pausing.stateOf(known.get().record()));
    try {
      if (sandbox.state() == SandboxState.RUNNING) {
        mend(known.get());
        sandbox.ping();
      }
    } catch (Gone e) {
      sandbox.close();
      return Optional.empty();
    }
    attached.put(id, sandbox);
    return Optional.of(sandbox);
  }

  private void mend(StoredSandbox known) {
    try {
      booter.recover(known.record().id(), known.folder());
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "sandbox "
                  + known.record().id()
                  + " has an unfinished fork of a server process that was killed,"
                  + " which cannot be completed: "
                  + e.getMessage(),
              "attach again, or destroy the sandbox")
          .sandbox(known.record().id())
          .exception(e);
    }
  }

  /** Never touches sandboxes of another instance, even in a folder shared by mistake. */
  private boolean isOurs(StoredSandbox known) {
    return known.record().instance().equals(context.instance().value());
  }

  private AgentSandbox sandbox(StoredSandbox known, LinkTimeouts timeouts) {
    return AgentSandbox.builder(
            known.record().id(),
            new UnixSocketConnector(known.folder().socket()),
            known.record().secret())
        .capabilities(booter.capabilities())
        .providerCapabilities(extra(known.record().id()))
        .usageDecorator(agent -> booter.adjustUsage(known.record().id(), agent))
        .changeTracking(() -> booter.changeTracking(known.record().id(), known.folder()))
        .observedExit(() -> booter.observedExit(known.record().id()))
        .commandTimeout(known.record().commandTimeout())
        .timeouts(timeouts)
        .build();
  }

  /** Returns the capabilities of a sandbox that its agent alone does not have. */
  private Map<Class<? extends Capability>, Capability> extra(SandboxId id) {
    Map<Class<? extends Capability>, Capability> found = new HashMap<>();
    if (booter.capabilities().contains(Pausing.class)) {
      found.put(Pausing.class, pausing.of(id));
    }
    if (booter.capabilities().contains(Forking.class)) {
      found.put(Forking.class, forking.of(id));
    }
    return found;
  }

  @Override
  public List<InventoryItem> inventory() {
    return folders.list(context.instance().value()).stream().map(this::sighting).toList();
  }

  private InventoryItem sighting(StoredSandbox known) {
    SandboxRecord record = known.record();
    Map<String, String> details = new LinkedHashMap<>();
    details.put("folder", known.folder().path().toString());
    details.put("workspace", record.workspace().toString());
    record.agent().ifPresent(agent -> details.put("agentPid", Long.toString(agent.pid())));
    return new InventoryItem(
        record.id(),
        record.stopped() || record.isAlive() ? pausing.stateOf(record) : SandboxState.ERROR,
        record.createdAt(),
        details);
  }

  @Override
  public void destroy(SandboxId id, DestroyOptions how) {
    Supplier<SandboxId> action =
        () -> {
          destroyInTurn(id, how);
          return id;
        };
    turns.withLock(id, action);
  }

  private void destroyInTurn(SandboxId id, DestroyOptions how) {
    SandboxFolder folder = folders.of(id);
    AgentSandbox before = attached.remove(id);
    Optional<StoredSandbox> known = folders.find(id);
    if (!folder.exists() || (known.isPresent() && !isOurs(known.get()))) {
      return;
    }
    if (known.isPresent()) {
      AgentSandbox sandbox = before == null ? sandbox(known.get(), LAST_WORDS) : before;
      pausing.thaw(id, sandbox);
      new SandboxTerminator(known.get().record(), sandbox).terminate(how);
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
  private void removeWhatShortLivedOwnersLeft() {
    for (StoredSandbox known : folders.list(context.instance().value(), attached.keySet())) {
      if (known.record().isAbandoned(context.clock().instant())) {
        // One that is being destroyed right now looks the same; its lock is held.
        turns.tryWithLock(known.record().id(), () -> removeAbandoned(known.record().id()));
      }
    }
  }

  private void removeAbandoned(SandboxId id) {
    if (folders
        .find(id)
        .filter(known -> known.record().isAbandoned(context.clock().instant()))
        .isPresent()) {
      try {
        destroyInTurn(id, DestroyOptions.FORCE);
      } catch (SandboxException heldBySomebody) {
        // It stays in the inventory.
      }
    }
  }

  private void cleanUp(SandboxId id, Exception because) {
    try {
      destroyInTurn(id, DestroyOptions.FORCE);
    } catch (SandboxException e) {
      because.addSuppressed(e);
    }
  }

  @Override
  public void close() {
    attached.values().forEach(AgentSandbox::close);
    attached.clear();
    booter.close();
  }
}
