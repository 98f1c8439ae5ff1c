package dev.isola.engine;

import dev.isola.engine.admission.CapacityPool;
import dev.isola.engine.admission.Resources;
import dev.isola.engine.api.CreateResult;
import dev.isola.engine.api.Log;
import dev.isola.engine.api.Peers;
import dev.isola.engine.api.SandboxCount;
import dev.isola.engine.api.SandboxListFilter;
import dev.isola.engine.api.SandboxPage;
import dev.isola.engine.api.SandboxStatus;
import dev.isola.engine.api.SandboxView;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigKeys;
import dev.isola.engine.config.ShutdownAction;
import dev.isola.engine.egress.EgressOperations;
import dev.isola.engine.event.EventLog;
import dev.isola.engine.health.HealthMonitor;
import dev.isola.engine.lifecycle.ActivityTracker;
import dev.isola.engine.lifecycle.RecentErrors;
import dev.isola.engine.lifecycle.SandboxRequest;
import dev.isola.engine.lifecycle.SpecCodec;
import dev.isola.engine.metrics.Metrics;
import dev.isola.engine.peer.ServerIdentity;
import dev.isola.engine.placement.PlacementPlan;
import dev.isola.engine.pool.WarmPool;
import dev.isola.engine.registry.ProviderRegistry;
import dev.isola.engine.secret.SecretService;
import dev.isola.engine.selection.NetworkPolicy;
import dev.isola.engine.snapshot.ForkKind;
import dev.isola.engine.snapshot.ForkRequest;
import dev.isola.engine.snapshot.ForkResult;
import dev.isola.engine.snapshot.ForkService;
import dev.isola.engine.snapshot.MemorySnapshotResolver;
import dev.isola.engine.snapshot.SnapshotService;
import dev.isola.engine.statistics.StatisticsSampler;
import dev.isola.engine.template.TemplateImages;
import dev.isola.engine.template.TemplateService;
import dev.isola.engine.trace.Tracer;
import dev.isola.engine.volume.VolumeService;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.store.EntryFilter;
import dev.isola.store.Ledger;
import dev.isola.store.SandboxEntry;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Runs all providers as one service. The engine chooses the provider of each sandbox, records every
 * change in the ledger before making it, maintains the warm pool, enforces expiry, and recovers
 * from crashes. This class is a façade; {@link EngineComponents} holds the parts that do the work.
 */
public final class Engine implements AutoCloseable {
  private final EngineComponents parts;
  private final VolumeService volumes;
  private final TemplateService templates;
  private final ShutdownAction shutdown;
  private final NetworkPolicy networks;
  private final Readiness readiness;
  private final Optional<Duration> defaultTtl;

  private Engine(
      Config config,
      EngineComponents parts,
      HealthMonitor health,
      Optional<TemplateImages> images,
      InstantSource clock) {
    this.parts = parts;
    this.volumes =
        new VolumeService(
            parts.ledger,
            parts.registry,
            parts.candidates,
            config.get(ConfigKeys.PROVIDER),
            parts.creator,
            parts.sandboxes,
            clock,
            parts.log);
    this.templates =
        new TemplateService(
            parts.ledger,
            parts.templates,
            images,
            parts.creator,
            parts.sandboxes,
            parts.snapshots,
            config.get(ConfigKeys.DATA).resolve("templates"),
            config.get(ConfigKeys.PROVIDER),
            clock,
            parts.log);
    this.shutdown = config.get(ConfigKeys.SHUTDOWN);
    this.networks = config.networks();
    this.readiness =
        new Readiness(
            parts.selector, config.get(ConfigKeys.PROVIDER), health::current, parts.disks);
    this.defaultTtl = Optional.of(config.get(ConfigKeys.SANDBOX_TTL)).filter(Duration::isPositive);
  }

  /** Opens an engine without an image store, which therefore cannot build templates. */
  public static Engine open(
      Config config,
      Ledger ledger,
      ProviderRegistry registry,
      HealthMonitor health,
      InstantSource clock,
      Log log) {
    return open(config, ledger, registry, health, Optional.empty(), Optional.empty(), clock, log);
  }

  /**
   * Opens an engine: reconciles the state that an earlier engine left, then starts the background
   * tasks. The caller keeps ownership of the ledger, the registry and the health monitor.
   *
   * @param images the image store that templates are built from and stored in
   * @param identity this server, if it shares the ledger with others
   */
  public static Engine open(
      Config config,
      Ledger ledger,
      ProviderRegistry registry,
      HealthMonitor health,
      Optional<TemplateImages> images,
      Optional<ServerIdentity> identity,
      InstantSource clock,
      Log log) {
    EngineComponents parts =
        new EngineComponents(config, ledger, registry, health, identity, clock, log);
    parts.start(config);
    Engine engine = new Engine(config, parts, health, images, clock);
    Duration interval = config.get(ConfigKeys.RECONCILE_INTERVAL);
    Runnable volumes = parts.once("volumes", interval, engine.volumes::reconcile);
    parts.schedule.once("volumes", volumes);
    parts.schedule.every(interval, "volumes", volumes);
    if (identity.isEmpty()) {
      // Images are files of one machine, so servers that share a ledger build none.
      engine.templates.recover();
      parts.schedule.once("templates", engine.templates::reconcile);
      parts.schedule.every(interval, "templates", engine.templates::reconcile);
    }
    Duration retention = config.get(ConfigKeys.RETENTION);
    parts.schedule.every(
        EngineComponents.retentionInterval(retention),
        "build cache",
        () -> engine.templates.removeUnused(retention));
    return engine;
  }

  /**
   * Creates a sandbox, or claims one from the warm pool. Returns after the startup has run and the
   * ledger records the sandbox as running.
   *
   * @throws SandboxException if no provider is eligible, or every eligible provider fails
   */
  public CreateResult create(SandboxRequest request) {
    return parts.creator.create(request, false);
  }

  /**
   * Returns what {@link #create} would do with this request now. Changes nothing.
   *
   * @throws dev.isola.spi.error.InvalidRequest if the request is invalid, whatever the provider
   */
  public PlacementPlan plan(SandboxRequest request) {
    return parts.creator.plan(request);
  }

  /** Returns the network modes that the operator allows. */
  public NetworkPolicy networks() {
    return networks;
  }

  /** Returns the servers that share the ledger; empty if this server has it to itself. */
  public Optional<Peers> peers() {
    return parts.membership.map(Membership::peers);
  }

  /** Returns the operations on the connections of sandboxes to other hosts. */
  public EgressOperations egress() {
    return parts.egressOperations;
  }

  /**
   * Returns the readiness check: whether a sandbox could be created now, and at which provider.
   * Does not block.
   */
  public Readiness readiness() {
    return readiness;
  }

  /** Returns the TTL of a sandbox whose client requests none; empty for no expiry. */
  public Optional<Duration> defaultTtl() {
    return defaultTtl;
  }

  /**
   * Returns the recorded state of a sandbox. A sandbox whose record is unreadable has state {@code
   * error}.
   */
  public SandboxView view(SandboxId id) {
    return parts.sandboxes.view(id);
  }

  /**
   * Returns the condition of a sandbox: whether it works, what it uses, and its latest failures.
   * Neither counts as activity nor resumes it.
   */
  public SandboxStatus status(SandboxId id) {
    return parts.sandboxes.status(id);
  }

  /** Returns the latest failures of sandboxes, to which callers of the engine add theirs. */
  public RecentErrors recentErrors() {
    return parts.errors;
  }

  /**
   * Waits until a sandbox is in one of the given states; empty if it is not within {@code timeout}.
   *
   * @throws dev.isola.spi.error.NotFound if there is no such sandbox
   * @throws dev.isola.spi.error.Conflict if it can no longer reach any of them
   */
  public Optional<SandboxView> awaitState(SandboxId id, Set<SandboxState> states, Duration timeout)
      throws InterruptedException {
    return parts.sandboxes.awaitState(id, states, timeout);
  }

  /**
   * Lists the recorded state of sandboxes. A sandbox whose record is unreadable has state {@code
   * error}.
   */
  public SandboxPage list(SandboxListFilter filter, String after, int limit) {
    return parts.sandboxes.list(filter, after, limit);
  }

  /**
   * Returns a sandbox to work with. The call counts as activity and resumes a suspended sandbox.
   *
   * @throws dev.isola.spi.error.NotFound if no such sandbox was ever created
   * @throws dev.isola.spi.error.Gone if the sandbox no longer exists
   */
  public Sandbox sandbox(SandboxId id) {
    return parts.sandboxes.get(id);
  }

  /** Sets the expiry of a sandbox to {@code fromNow} from the current time. */
  public SandboxView renew(SandboxId id, Duration fromNow) {
    return parts.sandboxes.renew(id, fromNow);
  }

  public SandboxView pause(SandboxId id, Pausing.PauseKind kind) {
    return parts.sandboxes.pause(id, kind);
  }

  /** Resumes a paused or suspended sandbox. */
  public SandboxView resume(SandboxId id) {
    return parts.sandboxes.resume(id);
  }

  /**
   * Returns a number that changes whenever the sandbox is resumed without its memory. A client that
   * keeps a process running for the lifetime of the sandbox must then start it again.
   */
  public long bootGeneration(SandboxId id) {
    return parts.sandboxes.bootGeneration(id);
  }

  /**
   * Destroys a sandbox and returns when nothing of it is left. Does nothing if it is already gone.
   */
  public void destroy(SandboxId id, DestroyOptions options) {
    parts.sandboxes.destroy(id, options);
  }

  /**
   * Destroys a sandbox like {@link #destroy}, and waits no longer than the timeout of {@code
   * options}; the destruction then continues.
   *
   * @throws dev.isola.spi.error.DeadlineExceeded if the sandbox still exists after that time
   */
  public void destroyWithin(SandboxId id, DestroyOptions options) {
    parts.sandboxes.destroyWithin(id, options);
  }

  /** Returns the number of sandboxes that are not destroyed, by provider and state. */
  public List<SandboxCount> counts() {
    return parts.sandboxes.counts();
  }

  /** Returns the usage of the capacity that providers without a dedicated capacity share. */
  public CapacityPool.Usage reserved() {
    return parts.admission.usage();
  }

  /** Returns the usage of the capacity that applies to a provider, dedicated or shared. */
  public CapacityPool.Usage capacityFor(String provider) {
    return parts.admission.usage(provider);
  }

  /** Returns the resources reserved for the sandboxes of a provider. */
  public Resources reserved(String provider) {
    return parts.admission.reserved(provider);
  }

  /** Creates {@code count} sandboxes with a copy of the files of a sandbox. */
  public List<ForkResult> fork(SandboxId id, int count) {
    return fork(id, ForkRequest.of(count, ForkKind.FILESYSTEM));
  }

  /**
   * Creates forks of a sandbox.
   *
   * @return one result per fork: the sandbox, or the reason why it could not be created
   * @throws dev.isola.spi.error.Unsupported if the provider does not support this kind of fork;
   *     nothing is created
   * @throws dev.isola.spi.error.Conflict if the memory of a sandbox with secret variables is
   *     requested and the request does not allow that, or if it holds something that cannot be
   *     saved
   */
  public List<ForkResult> fork(SandboxId id, ForkRequest request) {
    parts.creator.refuseWhenClosing();
    try (ActivityTracker.Activity _ = parts.instrumentation.activity().begin(id)) {
      return new ForkService(
              parts.recorder,
              parts.snapshots,
              parts.secretEnv,
              parts.memoryPolicy,
              parts.sandboxes::get,
              fork -> parts.creator.create(withPermissions(fork, request), true),
              request.startup(),
              parts.log)
          .fork(id, request.count(), request.kind(), request.allowSecrets());
    }
  }

  /** A fork needs the same permissions as its source did. */
  private SandboxRequest withPermissions(SandboxRequest fork, ForkRequest request) {
    SandboxRequest permitted = request.hostAccess() ? fork.withHostAccess() : fork;
    return request.key().map(permitted::withKey).orElse(permitted);
  }

  /**
   * Makes an image of a sandbox.
   *
   * @param image the name of the new image
   * @param replace whether to replace an existing image of that name
   */
  public void commit(SandboxId id, String image, boolean replace) {
    parts.creator.refuseWhenClosing();
    SandboxEntry entry = parts.recorder.require(id);
    try (ActivityTracker.Activity _ = parts.instrumentation.activity().begin(id)) {
      templates
          .imageCommits()
          .commit(
              parts.sandboxes.get(id),
              entry.provider(),
              SpecCodec.decode(entry.spec(), id).spec(),
              parts.snapshots.baseImage(entry),
              image,
              replace);
    }
  }

  /** Returns the only provider for a spec whose image contains processes; otherwise empty. */
  public Optional<String> requiredProvider(SandboxSpec spec) {
    return new MemorySnapshotResolver(parts.store).requiredProvider(spec);
  }

  public SnapshotService snapshots() {
    return parts.snapshots;
  }

  /** Returns the named secrets. */
  public SecretService secrets() {
    return parts.secrets;
  }

  public VolumeService volumes() {
    return volumes;
  }

  public TemplateService templates() {
    return templates;
  }

  public EventLog events() {
    return parts.events;
  }

  public WarmPool pool() {
    return parts.pool;
  }

  /** Returns the samples of the state of this engine. */
  public StatisticsSampler statistics() {
    return parts.statistics;
  }

  public Metrics metrics() {
    return parts.metrics;
  }

  /** Returns the tracer that exports spans. */
  public Tracer tracer() {
    return parts.traces;
  }

  /**
   * Refuses new sandboxes, and gives up those that no request uses to the other servers of the
   * ledger. Call it before {@link #close}, while requests in progress complete. Without other
   * servers, and if the sandboxes are destroyed at shutdown, none is given up.
   */
  public void beginShutdown() {
    parts.creator.close();
    if (shutdown != ShutdownAction.DRAIN) {
      parts.membership.ifPresent(Membership::beginHandOver);
    }
  }

  /**
   * Stops the background tasks. Sandboxes keep running or are destroyed, depending on the {@code
   * shutdown} setting.
   */
  @Override
  public void close() {
    parts.creator.close();
    templates.close();
    parts.schedule.close();
    parts.pool.close();
    if (shutdown == ShutdownAction.DRAIN) {
      drain();
    }
    parts.close();
  }

  private void drain() {
    EntryFilter filter = EntryFilter.ALL.notDestroyed();
    EntryFilter own = parts.ownership.server().map(filter::owner).orElse(filter);
    for (SandboxEntry entry : parts.ledger.sandboxes().listAll(own)) {
      parts.schedule.attempt(
          "destroying sandbox " + entry.id(),
          () ->
              parts.destroyer.destroy(
                  entry.id(), DestroyOptions.FORCE, "the server was shut down"));
    }
  }
}
