package dev.isola.engine;

import dev.isola.engine.api.CapacityUsage;
import dev.isola.engine.api.CreateResult;
import dev.isola.engine.api.ForkKind;
import dev.isola.engine.api.ForkRequest;
import dev.isola.engine.api.ForkResult;
import dev.isola.engine.api.Log;
import dev.isola.engine.api.NetworkPolicy;
import dev.isola.engine.api.Peers;
import dev.isola.engine.api.PlacementPlan;
import dev.isola.engine.api.RecentErrors;
import dev.isola.engine.api.Resources;
import dev.isola.engine.api.SandboxCount;
import dev.isola.engine.api.SandboxListFilter;
import dev.isola.engine.api.SandboxPage;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.SandboxStatus;
import dev.isola.engine.api.SandboxView;
import dev.isola.engine.api.TemplateImages;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigKeys;
import dev.isola.engine.config.ShutdownAction;
import dev.isola.engine.egress.EgressOperations;
import dev.isola.engine.event.EventLog;
import dev.isola.engine.health.HealthMonitor;
import dev.isola.engine.lifecycle.ActivityTracker;
import dev.isola.engine.lifecycle.LiveSandboxes;
import dev.isola.engine.metrics.Metrics;
import dev.isola.engine.peer.Ownership;
import dev.isola.engine.peer.ServerIdentity;
import dev.isola.engine.peer.ServerLease;
import dev.isola.engine.pool.WarmPool;
import dev.isola.engine.registry.ProviderRegistry;
import dev.isola.engine.sandbox.SandboxCreator;
import dev.isola.engine.sandbox.Sandboxes;
import dev.isola.engine.secret.SecretService;
import dev.isola.engine.snapshot.ForkService;
import dev.isola.engine.snapshot.SnapshotService;
import dev.isola.engine.spec.SpecCodec;
import dev.isola.engine.statistics.StatisticsSampler;
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
 * from crashes. This class wires the features together and starts their recurring tasks; {@link
 * SandboxCreator} creates sandboxes, {@link Sandboxes} uses them.
 */
public final class Engine implements AutoCloseable {
  private final EngineContext context;
  private final TaskScheduler schedule;
  private final Telemetry telemetry;
  private final Admission admission;
  private final SandboxRecords records;
  private final EngineSecrets secrets;
  private final EngineEgress egress;
  private final LiveSandboxes liveSandboxes;
  private final EngineSnapshots snapshots;
  private final SandboxLifecycle lifecycle;
  private final SandboxCreation creation;
  private final SandboxCreator creator;
  private final Sandboxes sandboxes;
  private final VolumeService volumes;
  private final TemplateService templates;
  private final StateReports reports;
  private final StatisticsSampler statistics;
  private final Readiness readiness;
  private final Optional<Membership> membership;

  private Engine(
      EngineContext context, Optional<ServerLease> lease, Optional<TemplateImages> images) {
    this.context = context;
    Config config = context.config();
    schedule = new TaskScheduler(context.ownership()::isCurrent, context.log());
    telemetry = new Telemetry(config, context.clock());
    admission = new Admission(context, lease);
    records = new SandboxRecords(context);
    secrets = new EngineSecrets(context);
    egress = new EngineEgress(context, records, secrets, telemetry);
    liveSandboxes =
        new LiveSandboxes(
            context.registry(), admission.control, egress.service, context.ownership());
    snapshots = new EngineSnapshots(context, records, secrets, liveSandboxes, telemetry);
    lifecycle =
        new SandboxLifecycle(
            context, records, secrets, admission, liveSandboxes, snapshots, telemetry);
    creation =
        new SandboxCreation(
            context,
            records,
            secrets,
            admission,
            liveSandboxes,
            egress,
            snapshots,
            lifecycle,
            telemetry);
    creator = creation.creator;
    reports = new StateReports(context, records, liveSandboxes, egress.service, telemetry);
    sandboxes =
        new Sandboxes(
            context.ledger(),
            records.recorder,
            records.events,
            records.quarantine,
            liveSandboxes,
            lifecycle.suspension,
            lifecycle.suspender,
            lifecycle.destroyer,
            lifecycle.expiry,
            reports.status,
            telemetry.instrumentation,
            context.clock());
    volumes =
        new VolumeService(
            context.ledger(),
            context.registry(),
            creation.candidates,
            config.get(ConfigKeys.PROVIDER),
            creator,
            sandboxes,
            context.clock(),
            context.log());
    templates =
        new TemplateService(
            context.ledger(),
            creation.templates,
            images,
            creator,
            sandboxes,
            snapshots.service,
            config.get(ConfigKeys.DATA).resolve("templates"),
            config.get(ConfigKeys.PROVIDER),
            context.clock(),
            context.log());
    statistics = reports.sampler(admission.control, creation.pool);
    readiness =
        new Readiness(
            creation.candidates.selector(),
            config.get(ConfigKeys.PROVIDER),
            context.health()::current,
            admission.disks);
    membership =
        lease.map(
            one ->
                new Membership(
                    context.ledger(),
                    one,
                    context.registry(),
                    admission.control,
                    liveSandboxes,
                    telemetry.activity.activeSandboxes(),
                    lifecycle.reconciler,
                    secrets.sealed,
                    context.clock(),
                    context.log()));
    reports.registerGauges(admission.control, creation.pool, records);
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
    Optional<ServerLease> lease =
        identity.map(self -> new ServerLease(ledger, self, System::nanoTime, log));
    Ownership ownership = lease.<Ownership>map(one -> one).orElse(Ownership.ALONE);
    Engine engine =
        new Engine(
            new EngineContext(config, ledger, registry, health, ownership, clock, log),
            lease,
            images);
    engine.start();
    return engine;
  }

  private void start() {
    membership.ifPresent(Membership::join);
    lifecycle.reconciler.reconcile();
    membership.ifPresent(Membership::start);
    lifecycle.start(schedule);
    admission.start(schedule);
    reports.start(schedule);
    egress.start(context, liveSandboxes, schedule);
    creation.start(context, schedule);
    schedule.every(StatisticsSampler.INTERVAL, "statistics", statistics::sample);
    Duration interval = context.config().get(ConfigKeys.RECONCILE_INTERVAL);
    Runnable reconcileVolumes = context.onOneServer("volumes", interval, volumes::reconcile);
    schedule.once("volumes", reconcileVolumes);
    schedule.every(interval, "volumes", reconcileVolumes);
    if (membership.isEmpty()) {
      // Images are files of one machine, so servers that share a ledger build none.
      templates.recover();
      schedule.once("templates", templates::reconcile);
      schedule.every(interval, "templates", templates::reconcile);
    }
    Duration retention = context.config().get(ConfigKeys.RETENTION);
    schedule.every(
        SandboxLifecycle.retentionInterval(retention),
        "build cache",
        () -> templates.removeUnused(retention));
  }

  /**
   * Creates a sandbox, or claims one from the warm pool. Returns after the startup has run and the
   * ledger records the sandbox as running.
   *
   * @throws SandboxException if no provider is eligible, or every eligible provider fails
   */
  public CreateResult create(SandboxRequest request) {
    return creator.create(request, false);
  }

  /**
   * Returns what {@link #create} would do with this request now. Changes nothing.
   *
   * @throws dev.isola.spi.error.InvalidRequest if the request is invalid, whatever the provider
   */
  public PlacementPlan plan(SandboxRequest request) {
    return creator.plan(request);
  }

  /** Returns the network modes that the operator allows. */
  public NetworkPolicy networks() {
    return context.config().networks();
  }

  /** Returns the servers that share the ledger; empty if this server has it to itself. */
  public Optional<Peers> peers() {
    return membership.map(Membership::peers);
  }

  /** Returns the operations on the connections of sandboxes to other hosts. */
  public EgressOperations egress() {
    return egress.operations;
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
    return Optional.of(context.config().get(ConfigKeys.SANDBOX_TTL)).filter(Duration::isPositive);
  }

  /**
   * Returns the recorded state of a sandbox. A sandbox whose record is unreadable has state {@code
   * error}.
   */
  public SandboxView view(SandboxId id) {
    return sandboxes.view(id);
  }

  /**
   * Returns the condition of a sandbox: whether it works, what it uses, and its latest failures.
   * Neither counts as activity nor resumes it.
   */
  public SandboxStatus status(SandboxId id) {
    return sandboxes.status(id);
  }

  /** Returns the latest failures of sandboxes, to which callers of the engine add theirs. */
  public RecentErrors recentErrors() {
    return telemetry.errors;
  }

  /**
   * Waits until a sandbox is in one of the given states; empty if it is not within {@code timeout}.
   *
   * @throws dev.isola.spi.error.NotFound if there is no such sandbox
   * @throws dev.isola.spi.error.Conflict if it can no longer reach any of them
   */
  public Optional<SandboxView> awaitState(SandboxId id, Set<SandboxState> states, Duration timeout)
      throws InterruptedException {
    return sandboxes.awaitState(id, states, timeout);
  }

  /**
   * Lists the recorded state of sandboxes. A sandbox whose record is unreadable has state {@code
   * error}.
   */
  public SandboxPage list(SandboxListFilter filter, String after, int limit) {
    return sandboxes.list(filter, after, limit);
  }

  /**
   * Returns a sandbox to work with. The call counts as activity and resumes a suspended sandbox.
   *
   * @throws dev.isola.spi.error.NotFound if no such sandbox was ever created
   * @throws dev.isola.spi.error.Gone if the sandbox no longer exists
   */
  public Sandbox sandbox(SandboxId id) {
    return sandboxes.get(id);
  }

  /** Sets the expiry of a sandbox to {@code fromNow} from the current time. */
  public SandboxView renew(SandboxId id, Duration fromNow) {
    return sandboxes.renew(id, fromNow);
  }

  public SandboxView pause(SandboxId id, Pausing.PauseKind kind) {
    return sandboxes.pause(id, kind);
  }

  /** Resumes a paused or suspended sandbox. */
  public SandboxView resume(SandboxId id) {
    return sandboxes.resume(id);
  }

  /**
   * Returns a number that changes whenever the sandbox is resumed without its memory. A client that
   * keeps a process running for the lifetime of the sandbox must then start it again.
   */
  public long bootGeneration(SandboxId id) {
    return sandboxes.bootGeneration(id);
  }

  /**
   * Destroys a sandbox and returns when nothing of it is left. Does nothing if it is already gone.
   */
  public void destroy(SandboxId id, DestroyOptions options) {
    sandboxes.destroy(id, options);
  }

  /**
   * Destroys a sandbox like {@link #destroy}, and waits no longer than the timeout of {@code
   * options}; the destruction then continues.
   *
   * @throws dev.isola.spi.error.DeadlineExceeded if the sandbox still exists after that time
   */
  public void destroyWithin(SandboxId id, DestroyOptions options) {
    sandboxes.destroyWithin(id, options);
  }

  /** Returns the number of sandboxes that are not destroyed, by provider and state. */
  public List<SandboxCount> counts() {
    return sandboxes.counts();
  }

  /** Returns the usage of the capacity that providers without a dedicated capacity share. */
  public CapacityUsage reserved() {
    return admission.control.usage();
  }

  /** Returns the usage of the capacity that applies to a provider, dedicated or shared. */
  public CapacityUsage capacityFor(String provider) {
    return admission.control.usage(provider);
  }

  /** Returns the resources reserved for the sandboxes of a provider. */
  public Resources reserved(String provider) {
    return admission.control.reserved(provider);
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
    creator.refuseWhenClosing();
    try (ActivityTracker.Activity _ = telemetry.activity.begin(id)) {
      return new ForkService(
              records.recorder,
              snapshots.service,
              secrets.env,
              snapshots.memoryPolicy,
              sandboxes::get,
              fork -> creator.create(withPermissions(fork, request), true),
              request.startup(),
              context.log())
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
    creator.refuseWhenClosing();
    SandboxEntry entry = records.recorder.require(id);
    try (ActivityTracker.Activity _ = telemetry.activity.begin(id)) {
      templates
          .imageCommits()
          .commit(
              sandboxes.get(id),
              entry.provider(),
              SpecCodec.decode(entry.spec(), id).spec(),
              snapshots.service.baseImage(entry),
              image,
              replace);
    }
  }

  /** Returns the only provider for a spec whose image contains processes; otherwise empty. */
  public Optional<String> requiredProvider(SandboxSpec spec) {
    return snapshots.resolver.requiredProvider(spec);
  }

  public SnapshotService snapshots() {
    return snapshots.service;
  }

  /** Returns the named secrets. */
  public SecretService secrets() {
    return secrets.service;
  }

  public VolumeService volumes() {
    return volumes;
  }

  public TemplateService templates() {
    return templates;
  }

  public EventLog events() {
    return records.events;
  }

  public WarmPool pool() {
    return creation.pool;
  }

  /** Returns the samples of the state of this engine. */
  public StatisticsSampler statistics() {
    return statistics;
  }

  public Metrics metrics() {
    return telemetry.metrics;
  }

  /** Returns the tracer that exports spans. */
  public Tracer tracer() {
    return telemetry.tracer;
  }

  /**
   * Refuses new sandboxes, and gives up those that no request uses to the other servers of the
   * ledger. Call it before {@link #close}, while requests in progress complete. Without other
   * servers, and if the sandboxes are destroyed at shutdown, none is given up.
   */
  public void beginShutdown() {
    creator.close();
    if (context.config().get(ConfigKeys.SHUTDOWN) != ShutdownAction.DRAIN) {
      membership.ifPresent(Membership::beginHandOver);
    }
  }

  /**
   * Stops the background tasks. Sandboxes keep running or are destroyed, depending on the {@code
   * shutdown} setting.
   */
  @Override
  public void close() {
    creator.close();
    templates.close();
    schedule.close();
    creation.pool.close();
    if (context.config().get(ConfigKeys.SHUTDOWN) == ShutdownAction.DRAIN) {
      drain();
    }
    membership.ifPresent(Membership::close);
    lifecycle.close();
    snapshots.close();
    telemetry.close();
  }

  private void drain() {
    EntryFilter filter = EntryFilter.ALL.notDestroyed();
    EntryFilter own = context.ownership().server().map(filter::owner).orElse(filter);
    for (SandboxEntry entry : context.ledger().sandboxes().listAll(own)) {
      schedule.attempt(
          "destroying sandbox " + entry.id(),
          () ->
              lifecycle.destroyer.destroy(
                  entry.id(), DestroyOptions.FORCE, "the server was shut down"));
    }
  }
}
