package dev.isola.engine;

import dev.isola.engine.api.CapacityUsage;
import dev.isola.engine.api.Log;
import dev.isola.engine.api.NetworkPolicy;
import dev.isola.engine.api.Peers;
import dev.isola.engine.api.RecentErrors;
import dev.isola.engine.api.Resources;
import dev.isola.engine.api.TemplateImages;
import dev.isola.engine.api.egress.EgressOperations;
import dev.isola.engine.api.event.EventLog;
import dev.isola.engine.api.health.HealthMonitor;
import dev.isola.engine.api.health.Readiness;
import dev.isola.engine.api.pool.WarmPool;
import dev.isola.engine.api.registry.ProviderRegistry;
import dev.isola.engine.api.sandbox.SandboxCreator;
import dev.isola.engine.api.sandbox.Sandboxes;
import dev.isola.engine.api.secret.SecretService;
import dev.isola.engine.api.snapshot.ForkService;
import dev.isola.engine.api.snapshot.SnapshotService;
import dev.isola.engine.api.statistics.StatisticsSampler;
import dev.isola.engine.api.template.ImageCommits;
import dev.isola.engine.api.template.TemplateService;
import dev.isola.engine.api.trace.Tracer;
import dev.isola.engine.api.volume.VolumeService;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigKeys;
import dev.isola.engine.config.ShutdownAction;
import dev.isola.engine.lifecycle.LiveSandboxes;
import dev.isola.engine.metrics.Metrics;
import dev.isola.engine.peer.Ownership;
import dev.isola.engine.peer.ServerIdentity;
import dev.isola.engine.peer.ServerLease;
import dev.isola.spi.DestroyOptions;
import dev.isola.store.EntryFilter;
import dev.isola.store.Ledger;
import dev.isola.store.SandboxEntry;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;

/**
 * Runs all providers as one service. The engine chooses the provider of each sandbox, records every
 * change in the ledger before making it, maintains the warm pool, enforces expiry, and recovers
 * from crashes. This class wires the features together, starts their recurring tasks and hands them
 * out.
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
  private final ForkService forks;
  private final ImageCommits imageCommits;
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
    forks =
        new ForkService(
            creator,
            sandboxes,
            records.recorder,
            snapshots.service,
            secrets.env,
            snapshots.memoryPolicy,
            telemetry.activity,
            context.log());
    imageCommits =
        new ImageCommits(
            images.orElse(TemplateImages.NONE),
            creator,
            sandboxes,
            records.recorder,
            snapshots.service,
            telemetry.activity);
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

  /**
   * Opens an engine: reconciles the state that an earlier engine left, then starts the background
   * tasks. The caller keeps ownership of the ledger, the registry and the health monitor.
   *
   * @param images the image store that templates are built from and stored in; without one, no
   *     template can be built
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

  /** Returns the operation that creates sandboxes. */
  public SandboxCreator creator() {
    return creator;
  }

  /** Returns the operations on sandboxes that exist. */
  public Sandboxes sandboxes() {
    return sandboxes;
  }

  /** Returns the operation that forks sandboxes. */
  public ForkService forks() {
    return forks;
  }

  public SnapshotService snapshots() {
    return snapshots.service;
  }

  /** Returns the operation that makes images of sandboxes. */
  public ImageCommits imageCommits() {
    return imageCommits;
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

  /** Returns the latest failures of sandboxes, to which callers of the engine add theirs. */
  public RecentErrors recentErrors() {
    return telemetry.errors;
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

  /** Returns the metrics, to which the server adds those of its requests. */
  public Metrics metrics() {
    return telemetry.metrics;
  }

  /** Returns all metrics in the Prometheus text format; empty if the configuration disables it. */
  public String scrapeMetrics() {
    return telemetry.metrics.scrape();
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
