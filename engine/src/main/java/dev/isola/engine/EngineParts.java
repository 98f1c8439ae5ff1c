package dev.isola.engine;

import dev.isola.engine.admission.Admission;
import dev.isola.engine.admission.AdmissionControl;
import dev.isola.engine.admission.Capacity;
import dev.isola.engine.admission.Headroom;
import dev.isola.engine.api.Log;
import dev.isola.engine.api.ProviderInstance;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.Keys;
import dev.isola.engine.event.EventLog;
import dev.isola.engine.health.HealthMonitor;
import dev.isola.engine.lease.SandboxLeases;
import dev.isola.engine.lifecycle.Book;
import dev.isola.engine.lifecycle.Choosing;
import dev.isola.engine.lifecycle.Creator;
import dev.isola.engine.lifecycle.Ender;
import dev.isola.engine.lifecycle.Expiry;
import dev.isola.engine.lifecycle.Living;
import dev.isola.engine.lifecycle.Quarantine;
import dev.isola.engine.lifecycle.Retention;
import dev.isola.engine.lifecycle.SandboxOperations;
import dev.isola.engine.lifecycle.Secrets;
import dev.isola.engine.lifecycle.SnapshotSuspension;
import dev.isola.engine.lifecycle.Suspender;
import dev.isola.engine.lifecycle.SuspensionStorage;
import dev.isola.engine.lifecycle.Uses;
import dev.isola.engine.metrics.Levels;
import dev.isola.engine.metrics.Measured;
import dev.isola.engine.metrics.Metrics;
import dev.isola.engine.placing.Fallback;
import dev.isola.engine.pool.WarmPool;
import dev.isola.engine.reconcile.Reconciler;
import dev.isola.engine.registry.Registry;
import dev.isola.engine.selection.Selector;
import dev.isola.engine.snapshot.OpenedStore;
import dev.isola.engine.snapshot.SnapshotImages;
import dev.isola.engine.snapshot.SnapshotSuspensionStorage;
import dev.isola.engine.snapshot.Snapshots;
import dev.isola.engine.trace.Traces;
import dev.isola.engine.usage.UsageWatch;
import dev.isola.spi.Hosting;
import dev.isola.store.Ledger;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;

/** The parts of an engine, made from its configuration and put together. */
final class EngineParts implements AutoCloseable {
  private static final Duration HOUR = Duration.ofHours(1);

  /** Well within the time for which sandboxes list executions that have ended. */
  private static final Duration EXECUTIONS_INTERVAL = Duration.ofSeconds(5);

  final Ledger ledger;
  final Registry registry;
  final Log log;
  final Schedule schedule;
  final AdmissionControl admission;
  final EventLog events;
  final Book book;
  final Quarantine quarantine;
  final Living living;
  final Metrics metrics;
  final Traces traces;
  final Measured measured;
  final OpenedStore store;
  final Snapshots snapshots;
  final Secrets secrets;
  final Ender ender;
  final Selector selector;
  final Creator creator;
  final SandboxOperations operations;
  final Expiry expiry;
  final Reconciler reconciler;
  final WarmPool pool;
  final UsageWatch usage;
  final Retention retention;

  EngineParts(
      Config config,
      Ledger ledger,
      Registry registry,
      HealthMonitor health,
      InstantSource clock,
      Log log) {
    this.ledger = ledger;
    this.registry = registry;
    this.log = log;
    schedule = new Schedule(log);
    admission = admission(config, registry, clock);
    events = new EventLog(ledger);
    book = new Book(ledger, events, clock);
    quarantine = new Quarantine(events, clock, log);
    living = new Living(registry, admission);
    metrics = Metrics.open(config);
    traces = Traces.open(config, metrics);
    Uses uses = new Uses();
    measured = new Measured(traces.around(metrics.recorder()), uses);
    store =
        new OpenedStore(
            config.get(Keys.DATA).resolve("snapshots"),
            config.get(Keys.SNAPSHOTS_PLACE),
            config.get(Keys.SNAPSHOTS_ENDPOINT));
    snapshots = new Snapshots(store, book, living, events, measured, clock, log);
    SnapshotImages images = new SnapshotImages(store, measured);
    secrets = new Secrets(ledger, config.get(Keys.DATA));
    SuspensionStorage suspensions =
        new SnapshotSuspensionStorage(snapshots, images, registry, secrets, log);
    ender = new Ender(book, registry, living, suspensions, secrets, log);
    selector = new Selector(config.policy(), registry.instances());
    Choosing choosing = new Choosing(selector, health::settled, new Fallback(clock, log), images);
    creator =
        new Creator(choosing, admission, registry, book, ender, living, events, secrets, clock);
    SnapshotSuspension snapshotSuspension =
        new SnapshotSuspension(book, living, registry, admission, suspensions, clock, log);
    Suspender suspender = new Suspender(book, living, snapshotSuspension, clock, log);
    operations = new SandboxOperations(book, living, snapshotSuspension, suspender, clock);
    expiry = new Expiry(ledger, book, ender, suspender, uses, quarantine, clock, log);
    SandboxLeases leases = new SandboxLeases(config.get(Keys.DATA));
    reconciler =
        new Reconciler(
            ledger, registry, book, ender, living, snapshotSuspension, leases, quarantine, log);
    pool = new WarmPool(config.pool(), creator, ledger, book, ender, clock, log);
    usage = new UsageWatch(living, book, events, config.get(Keys.USAGE_WARN_AT), clock, log);
    retention = new Retention(ledger, secrets, config.get(Keys.RETENTION), clock);
    metrics.show(
        () ->
            new Levels(
                ledger.sandboxes().counts(),
                admission.usage(),
                registry.names().stream()
                    .collect(Collectors.toMap(name -> name, admission::promised)),
                pool.size(),
                pool.tally(),
                health.current(),
                usage.last(),
                quarantine.size()),
        registry.names());
  }

  /** A capacity of its own counts for a provider alone; one elsewhere is not this machine. */
  private static AdmissionControl admission(
      Config config, Registry registry, InstantSource clock) {
    Duration patience = config.get(Keys.ADMISSION_QUEUE_TIMEOUT);
    Map<String, Admission> own = new HashMap<>();
    config
        .capacities()
        .forEach(
            (name, resources) -> {
              ProviderInstance instance = registry.instances().get(name);
              if (instance != null) {
                boolean local = instance.profile().hosting() == Hosting.LOCAL;
                own.put(
                    name,
                    new Admission(
                        Capacity.ofProvider(name, resources),
                        local ? config.headroom() : Headroom.UNCHECKED,
                        patience,
                        clock));
              }
            });
    Capacity shared = Capacity.ofInstallation(config.capacity());
    return new AdmissionControl(new Admission(shared, config.headroom(), patience, clock), own);
  }

  /** Puts in order what an earlier engine left, then begins the recurring work. */
  void start(Config config) {
    reconciler.reconcile();
    Duration expiryInterval = config.get(Keys.EXPIRY_INTERVAL);
    Duration reconcileInterval = config.get(Keys.RECONCILE_INTERVAL);
    Duration kept = config.get(Keys.RETENTION);
    schedule.every(expiryInterval, "expiry", expiry::sweep);
    schedule.every(reconcileInterval, "reconcile", reconciler::reconcile);
    schedule.every(expiryInterval, "lost", reconciler::reconcileWhatEnded);
    schedule.every(reconcileInterval, "pool", pool::refill);
    schedule.every(config.get(Keys.USAGE_INTERVAL), "usage", usage::look);
    schedule.every(retentionInterval(kept), "retention", retention::purge);
    schedule.every(
        EXECUTIONS_INTERVAL, "executions", () -> measured.executions().sweep(living.all(), log));
    schedule.once("retention", retention::purge);
    schedule.once("pool", pool::refill);
  }

  /** Returns how often it is looked for what was kept long enough. */
  static Duration retentionInterval(Duration kept) {
    return kept.compareTo(HOUR) < 0 ? kept : HOUR;
  }

  /** Lets go of what outlives sandboxes; the recurring work has ended. */
  @Override
  public void close() {
    store.close();
    traces.close();
    metrics.close();
  }
}
