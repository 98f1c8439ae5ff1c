package dev.isola.engine;

import dev.isola.engine.admission.AdmissionControl;
import dev.isola.engine.admission.Capacity;
import dev.isola.engine.admission.CapacityPool;
import dev.isola.engine.admission.DiskHeadroom;
import dev.isola.engine.admission.Headroom;
import dev.isola.engine.admission.Resources;
import dev.isola.engine.api.Log;
import dev.isola.engine.api.ProviderInstance;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigKeys;
import dev.isola.engine.egress.EgressOperations;
import dev.isola.engine.egress.EgressRecovery;
import dev.isola.engine.egress.EgressRules;
import dev.isola.engine.egress.EgressService;
import dev.isola.engine.egress.Interceptions;
import dev.isola.engine.egress.SandboxAuthorities;
import dev.isola.engine.event.EventLog;
import dev.isola.engine.health.HealthMonitor;
import dev.isola.engine.lease.SandboxLeases;
import dev.isola.engine.lifecycle.ActivityTracker;
import dev.isola.engine.lifecycle.ExpirySweeper;
import dev.isola.engine.lifecycle.LiveSandboxes;
import dev.isola.engine.lifecycle.Quarantine;
import dev.isola.engine.lifecycle.RecentErrors;
import dev.isola.engine.lifecycle.Retention;
import dev.isola.engine.lifecycle.SandboxDestroyer;
import dev.isola.engine.lifecycle.SandboxOperations;
import dev.isola.engine.lifecycle.SandboxRecorder;
import dev.isola.engine.lifecycle.SecretEnvStore;
import dev.isola.engine.lifecycle.SnapshotSuspension;
import dev.isola.engine.lifecycle.Suspender;
import dev.isola.engine.lifecycle.SuspensionStorage;
import dev.isola.engine.metrics.GaugeValues;
import dev.isola.engine.metrics.Instrumentation;
import dev.isola.engine.metrics.Metrics;
import dev.isola.engine.peer.Ownership;
import dev.isola.engine.peer.ServerIdentity;
import dev.isola.engine.peer.ServerLease;
import dev.isola.engine.placement.MachineBalancer;
import dev.isola.engine.pool.WarmPool;
import dev.isola.engine.reconcile.ReconcileStepExecutor;
import dev.isola.engine.reconcile.Reconciler;
import dev.isola.engine.reconcile.SharedReconciler;
import dev.isola.engine.registry.ProviderRegistry;
import dev.isola.engine.sandbox.ProviderCandidates;
import dev.isola.engine.sandbox.RequestResolver;
import dev.isola.engine.sandbox.SandboxCreator;
import dev.isola.engine.sandbox.Sandboxes;
import dev.isola.engine.sandbox.TemplateResolver;
import dev.isola.engine.sandbox.VolumeResolver;
import dev.isola.engine.sandbox.WarmSandboxes;
import dev.isola.engine.secret.EncryptionKeys;
import dev.isola.engine.secret.SealedSettings;
import dev.isola.engine.secret.SecretService;
import dev.isola.engine.secret.SecretVariables;
import dev.isola.engine.selection.ProviderSelector;
import dev.isola.engine.snapshot.LazySnapshotStore;
import dev.isola.engine.snapshot.MemoryCapturer;
import dev.isola.engine.snapshot.MemoryForkPolicy;
import dev.isola.engine.snapshot.MemorySnapshotResolver;
import dev.isola.engine.snapshot.SnapshotImages;
import dev.isola.engine.snapshot.SnapshotService;
import dev.isola.engine.snapshot.SnapshotSuspensionStorage;
import dev.isola.engine.statistics.StatisticsSampler;
import dev.isola.engine.template.TemplateDeclarations;
import dev.isola.engine.trace.Tracer;
import dev.isola.engine.usage.StatusReader;
import dev.isola.engine.usage.UsageMonitor;
import dev.isola.engine.usage.UsageSamples;
import dev.isola.spi.Hosting;
import dev.isola.store.Ledger;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** Creates the components of an engine from its configuration and wires them together. */
final class EngineComponents implements AutoCloseable {
  private static final Duration HOUR = Duration.ofHours(1);

  /** Shorter than the time for which sandboxes list executions that have ended. */
  private static final Duration EGRESS_EVENTS_INTERVAL = Duration.ofSeconds(1);

  /** How soon creates work again when there is space. */
  private static final Duration DISK_INTERVAL = Duration.ofSeconds(1);

  private static final Duration SHARED_POLL_INTERVAL = Duration.ofMillis(200);
  private static final Duration EXECUTIONS_INTERVAL = Duration.ofSeconds(5);

  final Ledger ledger;
  final ProviderRegistry registry;
  final Log log;
  final TaskScheduler schedule;
  final DiskHeadroom disks;
  final AdmissionControl admission;
  final EventLog events;
  final SandboxRecorder recorder;
  final Quarantine quarantine;
  final SandboxAuthorities authorities;
  final EgressService egress;
  final EgressOperations egressOperations;
  final EgressRecovery egressRecovery;
  final LiveSandboxes liveSandboxes;
  final Metrics metrics;
  final Tracer traces;
  final Instrumentation instrumentation;
  final StatisticsSampler statistics;
  final LazySnapshotStore store;
  final MemoryForkPolicy memoryPolicy;
  final SnapshotService snapshots;
  final SecretEnvStore secretEnv;
  final SecretService secrets;
  final SecretVariables variables;
  final SandboxDestroyer destroyer;
  final ProviderSelector selector;
  final ProviderCandidates candidates;
  final TemplateDeclarations templates;
  final SandboxCreator creator;
  final Sandboxes sandboxes;
  final SandboxOperations operations;
  final ExpirySweeper expiry;
  final ReconcileStepExecutor steps;
  final SharedReconciler sharedReconciler;
  final Reconciler reconciler;
  final WarmPool pool;
  final UsageMonitor usage;
  final RecentErrors errors;
  final Retention retention;
  final Ownership ownership;
  final Optional<Membership> membership;
  private boolean diskProblem;

  EngineComponents(
      Config config,
      Ledger ledger,
      ProviderRegistry registry,
      HealthMonitor health,
      Optional<ServerIdentity> identity,
      InstantSource clock,
      Log log) {
    this.ledger = ledger;
    this.registry = registry;
    this.log = log;
    Optional<ServerLease> lease =
        identity.map(self -> new ServerLease(ledger, self, System::nanoTime, log));
    Ownership ownership = lease.<Ownership>map(one -> one).orElse(Ownership.ALONE);
    schedule = new TaskScheduler(ownership::isCurrent, log);
    disks = config.disks(registry.names(), ledger.reserve());
    admission = admission(config, disks, registry, lease, clock);
    events = lease.isPresent() ? new EventLog(ledger, SHARED_POLL_INTERVAL) : new EventLog(ledger);
    recorder = new SandboxRecorder(ledger, events, ownership, clock);
    quarantine = new Quarantine(events, clock, log);
    metrics = Metrics.open(config);
    traces = Tracer.open(config, metrics);
    errors = new RecentErrors(clock);
    ActivityTracker activity = new ActivityTracker();
    instrumentation = new Instrumentation(traces.instrument(metrics.recorder()), activity, errors);
    store =
        new LazySnapshotStore(
            config.get(ConfigKeys.DATA).resolve("snapshots"),
            config.get(ConfigKeys.SNAPSHOTS_PLACE),
            config.get(ConfigKeys.SNAPSHOTS_ENDPOINT));
    EncryptionKeys keys =
        EncryptionKeys.open(
            config.get(ConfigKeys.DATA),
            config.get(ConfigKeys.SECRETS_KEY),
            config.get(ConfigKeys.SECRETS_OLD_KEY),
            System.getenv());
    if (keys.isRotating()) {
      log.warning(
          "a rotation of the key for secrets was interrupted: run isola secrets rotate-key");
    }
    SealedSettings sealed = new SealedSettings(ledger, keys);
    secretEnv = new SecretEnvStore(ledger, sealed);
    secrets = new SecretService(sealed, clock);
    variables = new SecretVariables(secrets);
    authorities = new SandboxAuthorities(ledger, sealed, clock);
    egress =
        new EgressService(
            EgressRules.of(config),
            new Interceptions(config, authorities, secrets),
            events,
            metrics.recorder());
    egressOperations = new EgressOperations(egress, recorder, variables);
    liveSandboxes = new LiveSandboxes(registry, admission, egress, ownership);
    egressRecovery = new EgressRecovery(egress, ledger, liveSandboxes, log);
    memoryPolicy = new MemoryForkPolicy(registry, health::current);
    snapshots =
        new SnapshotService(
            store,
            recorder,
            liveSandboxes,
            new MemoryCapturer(memoryPolicy, secretEnv, log),
            events,
            instrumentation,
            clock,
            log);
    SnapshotImages images = new SnapshotImages(store, registry, instrumentation, log);
    SuspensionStorage suspensions =
        new SnapshotSuspensionStorage(snapshots, images, registry, secretEnv, variables, log);
    destroyer =
        new SandboxDestroyer(recorder, registry, liveSandboxes, suspensions, secretEnv, log);
    selector = new ProviderSelector(config.policy(), registry.instances());
    candidates =
        new ProviderCandidates(
            selector,
            health,
            new MachineBalancer(registry.instances(), health::current, admission::reserved),
            images);
    templates = new TemplateDeclarations(ledger, clock);
    WarmSandboxes warm =
        new WarmSandboxes(config.pool(), registry, ledger, recorder, ownership, clock, log);
    creator =
        new SandboxCreator(
            new RequestResolver(
                new TemplateResolver(templates::requireBuilt),
                new MemorySnapshotResolver(store),
                new VolumeResolver(ledger, clock),
                config.hostAccess(),
                config.networks(),
                config.get(ConfigKeys.SANDBOX_MAX_DISK_MB),
                egress.rules(),
                variables),
            candidates,
            warm,
            admission,
            recorder,
            secretEnv,
            variables,
            registry,
            images,
            egress,
            liveSandboxes,
            destroyer,
            events,
            instrumentation,
            clock,
            log);
    SnapshotSuspension snapshotSuspension =
        new SnapshotSuspension(
            recorder, liveSandboxes, registry, admission, suspensions, clock, log);
    Suspender suspender = new Suspender(recorder, liveSandboxes, snapshotSuspension, clock, log);
    operations =
        new SandboxOperations(recorder, liveSandboxes, snapshotSuspension, suspender, clock);
    expiry =
        new ExpirySweeper(
            ledger, recorder, destroyer, suspender, activity, quarantine, ownership, clock, log);
    SandboxLeases leases = new SandboxLeases(config.get(ConfigKeys.DATA));
    steps =
        new ReconcileStepExecutor(
            registry, recorder, destroyer, liveSandboxes, snapshotSuspension, log);
    sharedReconciler =
        new SharedReconciler(
            ledger,
            registry,
            liveSandboxes,
            leases,
            ownership,
            steps,
            config.get(ConfigKeys.RECONCILE_INTERVAL),
            log);
    reconciler =
        new Reconciler(
            ledger,
            registry,
            liveSandboxes,
            leases,
            quarantine,
            ownership,
            sharedReconciler,
            steps,
            log);
    pool = new WarmPool(config.pool(), candidates, creator, warm, destroyer, ownership, log);
    membership =
        lease.map(
            one ->
                new Membership(
                    ledger,
                    one,
                    registry,
                    admission,
                    liveSandboxes,
                    instrumentation.activity().activeSandboxes(),
                    reconciler,
                    sealed,
                    clock,
                    log));
    UsageSamples samples = new UsageSamples();
    usage =
        new UsageMonitor(
            liveSandboxes,
            recorder,
            events,
            samples,
            config.get(ConfigKeys.USAGE_WARN_AT),
            clock,
            log);
    sandboxes =
        new Sandboxes(
            ledger,
            recorder,
            events,
            quarantine,
            liveSandboxes,
            operations,
            destroyer,
            expiry,
            new StatusReader(liveSandboxes, egress, registry, samples, errors),
            instrumentation);
    retention = new Retention(ledger, secretEnv, config.get(ConfigKeys.RETENTION), clock);
    this.ownership = ownership;
    statistics =
        new StatisticsSampler(
            new StatisticsSampler.Sources(
                ledger.sandboxes(),
                metrics.statistics(),
                pool::size,
                admission::usage,
                health::current),
            clock,
            System::nanoTime);
    metrics.registerGauges(
        () ->
            new GaugeValues(
                ledger.sandboxes().countByState(),
                admission.usage(),
                registry.names().stream()
                    .collect(Collectors.toMap(name -> name, admission::reserved)),
                pool.size(),
                pool.stats(),
                health.current(),
                usage.latest(),
                quarantine.size()),
        registry.names());
  }

  /**
   * Gives each provider with a configured capacity a pool of its own. Remote providers do not run
   * on this machine, so its headroom does not apply to them. Servers that share a ledger share the
   * capacity of a provider that all of them reach.
   */
  private static AdmissionControl admission(
      Config config,
      DiskHeadroom disks,
      ProviderRegistry registry,
      Optional<ServerLease> lease,
      InstantSource clock) {
    Headroom headroom = config.headroom(disks);
    Duration queueTimeout = config.get(ConfigKeys.ADMISSION_QUEUE_TIMEOUT);
    Map<String, CapacityPool> dedicated = new HashMap<>();
    config
        .capacities()
        .forEach(
            (name, resources) -> {
              ProviderInstance instance = registry.instances().get(name);
              if (instance != null) {
                boolean local = instance.profile().hosting() == Hosting.LOCAL;
                Supplier<Resources> elsewhere =
                    lease.isPresent() && instance.profile().shared()
                        ? () -> lease.get().reservedElsewhere(name)
                        : () -> Resources.NONE;
                dedicated.put(
                    name,
                    new CapacityPool(
                        Capacity.ofProvider(name, resources),
                        local ? headroom : Headroom.UNCHECKED,
                        elsewhere,
                        queueTimeout,
                        clock));
              }
            });
    Capacity shared = Capacity.ofInstallation(config.capacity());
    return new AdmissionControl(new CapacityPool(shared, headroom, queueTimeout, clock), dedicated);
  }

  /** Reconciles the state that an earlier engine left, then starts the recurring tasks. */
  void start(Config config) {
    membership.ifPresent(Membership::join);
    reconciler.reconcile();
    membership.ifPresent(Membership::start);
    Duration expiryInterval = config.get(ConfigKeys.EXPIRY_INTERVAL);
    Duration reconcileInterval = config.get(ConfigKeys.RECONCILE_INTERVAL);
    Duration retentionPeriod = config.get(ConfigKeys.RETENTION);
    schedule.every(expiryInterval, "expiry", expiry::sweep);
    schedule.every(reconcileInterval, "reconcile", reconciler::reconcile);
    if (ownership.server().isPresent()) {
      schedule.once("shared inventories", sharedReconciler::compare);
      schedule.every(reconcileInterval, "shared inventories", sharedReconciler::compare);
    }
    schedule.every(expiryInterval, "lost", reconciler::reconcileIfAnyEnded);
    pool.start();
    schedule.every(reconcileInterval, "pool", pool::refill);
    schedule.every(DISK_INTERVAL, "disk reserve", this::checkDisks);
    schedule.every(config.get(ConfigKeys.USAGE_INTERVAL), "usage", usage::sample);
    Duration purgeInterval = retentionInterval(retentionPeriod);
    schedule.every(purgeInterval, "retention", once("retention", purgeInterval, retention::purge));
    schedule.every(
        EXECUTIONS_INTERVAL,
        "executions",
        () -> instrumentation.executions().sweep(liveSandboxes.all(), log));
    schedule.every(EGRESS_EVENTS_INTERVAL, "egress events", egress::flush);
    schedule.every(StatisticsSampler.INTERVAL, "statistics", statistics::sample);
    schedule.once("egress", egressRecovery::attachAll);
    schedule.every(reconcileInterval, "egress", egressRecovery::attachAll);
    schedule.every(HOUR, "authorities", once("authorities", HOUR, authorities::removeOrphans));
    schedule.once("retention", once("retention", purgeInterval, retention::purge));
    schedule.once("pool", pool::refill);
  }

  /** Returns a task that one of several servers carries out for all. */
  Runnable once(String name, Duration interval, Runnable task) {
    return () -> {
      if (ownership.claim(name, interval)) {
        task.run();
      }
    };
  }

  /** Fills the disk reserve up if there is space again, and logs when a disk is full. */
  private void checkDisks() {
    boolean _ = ledger.reserve().refill();
    Optional<String> problem = disks.problem();
    if (problem.isPresent() && !diskProblem) {
      log.warning("no sandboxes are created: " + problem.get());
    } else if (problem.isEmpty() && diskProblem) {
      log.info("sandboxes are created again: the disks have space");
    }
    diskProblem = problem.isPresent();
  }

  /** Returns how often expired records are purged. */
  static Duration retentionInterval(Duration retentionPeriod) {
    return retentionPeriod.compareTo(HOUR) < 0 ? retentionPeriod : HOUR;
  }

  /**
   * Releases the resources that sandboxes do not depend on. Call it after the recurring tasks have
   * stopped.
   */
  @Override
  public void close() {
    membership.ifPresent(Membership::close);
    expiry.close();
    steps.close();
    store.close();
    traces.close();
    metrics.close();
  }
}
