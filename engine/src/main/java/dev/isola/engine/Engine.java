package dev.isola.engine;

import dev.isola.engine.admission.Admission;
import dev.isola.engine.api.Delivery;
import dev.isola.engine.api.Log;
import dev.isola.engine.api.Page;
import dev.isola.engine.api.SandboxFilter;
import dev.isola.engine.api.SandboxView;
import dev.isola.engine.api.StateCount;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.Keys;
import dev.isola.engine.config.Shutdown;
import dev.isola.engine.event.EventLog;
import dev.isola.engine.health.HealthMonitor;
import dev.isola.engine.lease.SandboxLeases;
import dev.isola.engine.ledger.Views;
import dev.isola.engine.lifecycle.Book;
import dev.isola.engine.lifecycle.Choosing;
import dev.isola.engine.lifecycle.Creator;
import dev.isola.engine.lifecycle.Deadlines;
import dev.isola.engine.lifecycle.Ender;
import dev.isola.engine.lifecycle.Expiry;
import dev.isola.engine.lifecycle.Living;
import dev.isola.engine.lifecycle.Order;
import dev.isola.engine.lifecycle.Quarantine;
import dev.isola.engine.lifecycle.ReservedTags;
import dev.isola.engine.lifecycle.Retention;
import dev.isola.engine.lifecycle.Secrets;
import dev.isola.engine.lifecycle.SnapshotSuspension;
import dev.isola.engine.lifecycle.SpecText;
import dev.isola.engine.lifecycle.Suspender;
import dev.isola.engine.lifecycle.SuspensionState;
import dev.isola.engine.lifecycle.SuspensionStorage;
import dev.isola.engine.lifecycle.Uses;
import dev.isola.engine.metrics.Deed;
import dev.isola.engine.metrics.Levels;
import dev.isola.engine.metrics.Measured;
import dev.isola.engine.metrics.Metrics;
import dev.isola.engine.metrics.Recorder;
import dev.isola.engine.placing.Fallback;
import dev.isola.engine.pool.WarmPool;
import dev.isola.engine.reconcile.Reconciler;
import dev.isola.engine.registry.Registry;
import dev.isola.engine.selection.HostAccess;
import dev.isola.engine.selection.Selector;
import dev.isola.engine.selection.Wish;
import dev.isola.engine.snapshot.ForkKind;
import dev.isola.engine.snapshot.Forked;
import dev.isola.engine.snapshot.Forks;
import dev.isola.engine.snapshot.OpenedStore;
import dev.isola.engine.snapshot.SnapshotImages;
import dev.isola.engine.snapshot.SnapshotSuspensionStorage;
import dev.isola.engine.snapshot.Snapshots;
import dev.isola.engine.trace.Traces;
import dev.isola.engine.usage.UsageWatch;
import dev.isola.spi.Destroy;
import dev.isola.spi.Sandbox;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.store.Failpoint;
import dev.isola.store.Ledger;
import dev.isola.store.SandboxEntry;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;

/**
 * Providers as one service that can be trusted: it chooses who makes a sandbox, writes down what it
 * does before it does it, keeps some ready, takes them down when their time is up, and puts in
 * order what a crash left behind.
 */
public final class Engine implements AutoCloseable {
  private static final Duration HOUR = Duration.ofHours(1);

  /** Well within the time for which sandboxes list executions that have ended. */
  private static final Duration EXECUTIONS_INTERVAL = Duration.ofSeconds(5);

  private final Ledger ledger;
  private final Admission admission;
  private final Book book;
  private final Quarantine quarantine;
  private final Living living;
  private final Ender ender;
  private final Creator creator;
  private final SnapshotSuspension snapshotSuspension;
  private final Suspender suspender;
  private final Expiry expiry;
  private final Reconciler reconciler;
  private final WarmPool pool;
  private final EventLog events;
  private final Registry registry;
  private final UsageWatch usage;
  private final Metrics metrics;
  private final Traces traces;
  private final Measured measured;
  private final InstantSource clock;
  private final Log log;
  private final Shutdown shutdown;
  private final HostAccess hostAccess;
  private final Readiness readiness;
  private final Optional<Duration> defaultTtl;
  private final OpenedStore store;
  private final Secrets secrets;
  private final Snapshots snapshots;
  private final Schedule schedule;
  private volatile boolean closing;

  private Engine(
      Config config,
      Ledger ledger,
      Registry registry,
      HealthMonitor health,
      InstantSource clock,
      Log log) {
    this.ledger = ledger;
    this.clock = clock;
    this.log = log;
    this.schedule = new Schedule(log);
    this.shutdown = config.get(Keys.SHUTDOWN);
    this.hostAccess = config.hostAccess();
    this.readiness =
        new Readiness(new Selector(config.policy()), config.get(Keys.PROVIDER), health::current);
    this.defaultTtl = Optional.of(config.get(Keys.SANDBOX_TTL)).filter(Duration::isPositive);
    admission =
        new Admission(
            config.capacity(), config.headroom(), config.get(Keys.ADMISSION_QUEUE_TIMEOUT), clock);
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
    creator =
        new Creator(
            new Choosing(
                new Selector(config.policy()), health::settled, new Fallback(clock, log), images),
            admission,
            registry,
            book,
            ender,
            living,
            events,
            secrets,
            clock);
    snapshotSuspension =
        new SnapshotSuspension(book, living, registry, admission, suspensions, clock, log);
    suspender = new Suspender(book, living, snapshotSuspension, clock, log);
    expiry = new Expiry(ledger, book, ender, suspender, uses, quarantine, clock, log);
    reconciler =
        new Reconciler(
            ledger,
            registry,
            book,
            ender,
            living,
            snapshotSuspension,
            new SandboxLeases(config.get(Keys.DATA)),
            quarantine,
            log);
    pool = new WarmPool(config.pool(), creator, ledger, book, ender, clock, log);
    this.registry = registry;
    usage = new UsageWatch(living, book, events, config.get(Keys.USAGE_WARN_AT), clock, log);
    metrics.show(
        () ->
            new Levels(
                ledger.sandboxes().counts(),
                admission.usage(),
                pool.size(),
                pool.tally(),
                health.current(),
                usage.last(),
                quarantine.size()),
        registry.names());
  }

  /**
   * Opens an engine: puts in order what an earlier one left, then begins to look after it. The
   * ledger, the registry and the monitor stay the caller's.
   */
  public static Engine open(
      Config config,
      Ledger ledger,
      Registry registry,
      HealthMonitor health,
      InstantSource clock,
      Log log) {
    Engine engine = new Engine(config, ledger, registry, health, clock, log);
    engine.reconciler.reconcile();
    Schedule schedule = engine.schedule;
    schedule.every(config.get(Keys.EXPIRY_INTERVAL), "expiry", engine.expiry::sweep);
    schedule.every(config.get(Keys.RECONCILE_INTERVAL), "reconcile", engine.reconciler::reconcile);
    schedule.every(config.get(Keys.EXPIRY_INTERVAL), "lost", engine.reconciler::reconcileWhatEnded);
    schedule.every(config.get(Keys.RECONCILE_INTERVAL), "pool", engine.pool::refill);
    schedule.every(config.get(Keys.USAGE_INTERVAL), "usage", engine.usage::look);
    Duration kept = config.get(Keys.RETENTION);
    Retention retention = new Retention(ledger, engine.secrets, kept, clock);
    schedule.every(kept.compareTo(HOUR) < 0 ? kept : HOUR, "retention", retention::purge);
    schedule.once("retention", retention::purge);
    schedule.every(
        EXECUTIONS_INTERVAL,
        "executions",
        () -> engine.measured.executions().sweep(engine.living.all(), log));
    schedule.once("pool", engine.pool::refill);
    return engine;
  }

  /**
   * Makes a sandbox, or takes a warm one. When this returns, it is written down that it runs.
   *
   * @throws SandboxException when no provider may or can
   */
  public Delivery create(Order order) {
    refuseWhenClosing();
    hostAccess.check(order.request().spec(), order.hostAccess());
    ReservedTags.refuse(order.request().spec().tags());
    return measured.spawn(wanted(order), () -> creator.create(order, pool));
  }

  /** A name that nobody has is a caller's text, and no label. */
  private String wanted(Order order) {
    return order.request().wish() instanceof Wish.Named(String name)
            && registry.providers().containsKey(name)
        ? name
        : Recorder.NOBODY;
  }

  /** Returns whether a sandbox could be made now, and by which provider. Does not wait. */
  public Readiness readiness() {
    return readiness;
  }

  /** Returns how long a sandbox lives whose client named no time; empty for no end. */
  public Optional<Duration> defaultTtl() {
    return defaultTtl;
  }

  /** Returns what is written down of a sandbox; one that cannot be read is in state error. */
  public SandboxView entry(SandboxId id) {
    return shown(book.need(id));
  }

  private SandboxView shown(SandboxEntry entry) {
    return Views.of(quarantine.shown(entry));
  }

  /** Returns what is written down of sandboxes; one that cannot be read is in state error. */
  public Page list(SandboxFilter filter, String after, int limit) {
    dev.isola.store.Page page = ledger.sandboxes().list(Views.of(filter), after, limit);
    return new Page(page.entries().stream().map(this::shown).toList(), page.next());
  }

  /**
   * Returns a sandbox to work with; using it counts as activity, and wakes one that rests.
   *
   * @throws dev.isola.spi.error.NotFound when there never was one
   * @throws dev.isola.spi.error.Gone when it is not there any more
   */
  public Sandbox sandbox(SandboxId id) {
    Living.Held held =
        living
            .held(id)
            .filter(one -> one.sandbox().state() == SandboxState.RUNNING)
            .orElseGet(() -> found(id));
    expiry.used(id);
    return measured.sandbox(held.sandbox(), held.provider());
  }

  private Living.Held found(SandboxId id) {
    SandboxEntry entry = book.need(id);
    if (SuspensionState.resumesOnRequest(entry)
        && (entry.state() == SandboxState.PAUSED || entry.state() == SandboxState.STOPPED)) {
      entry = wake(id);
    }
    return new Living.Held(living.of(entry), entry.provider());
  }

  /** Lets a sandbox live for {@code fromNow}. What is written decides; then the sandbox is told. */
  public SandboxView renew(SandboxId id, Duration fromNow) {
    SandboxEntry entry =
        book.change(
            id,
            current -> {
              refuseUnlessAlive(current);
              return current.toBuilder()
                  .expiresAt(clock.instant().plus(fromNow))
                  .updatedAt(clock.instant())
                  .build();
            });
    Failpoint.RENEW_WRITTEN.reach();
    if (entry.state() == SandboxState.RUNNING) {
      Duration given = Deadlines.given(SpecText.read(entry.spec(), id), fromNow);
      Deadlines.tell(living.of(entry), given);
    }
    Failpoint.RENEW_TOLD.reach();
    return Views.of(entry);
  }

  public SandboxView pause(SandboxId id, Pausing.PauseKind kind) {
    SandboxState state =
        kind == Pausing.PauseKind.MEMORY ? SandboxState.PAUSED : SandboxState.STOPPED;
    return measured.deed(
        Deed.PAUSE,
        providerOf(id),
        () -> {
          Pausing pausing = pausing(id);
          pausing.pause(kind);
          Failpoint.PAUSE_DONE.reach();
          SandboxEntry paused = become(id, state);
          Failpoint.PAUSE_WRITTEN.reach();
          return Views.of(paused);
        });
  }

  public SandboxView resume(SandboxId id) {
    return Views.of(wake(id));
  }

  private SandboxEntry wake(SandboxId id) {
    return measured.deed(
        Deed.RESUME,
        providerOf(id),
        () -> {
          SandboxEntry before = book.need(id);
          if (SuspensionState.isSuspended(before)
              && snapshotSuspension.resume(id).state() == SandboxState.RUNNING) {
            living.woken(id);
            return book.need(id);
          }
          pausing(id).resume();
          if (before.state() == SandboxState.STOPPED) {
            living.woken(id);
          }
          Failpoint.RESUME_DONE.reach();
          SandboxEntry resumed =
              book.change(
                  id,
                  current ->
                      current.state() == SandboxState.RUNNING
                          ? current
                          : suspender.running(current));
          Failpoint.RESUME_WRITTEN.reach();
          suspender.tell(before, resumed, living.of(resumed));
          return resumed;
        });
  }

  /**
   * Returns a number that is another one each time a sandbox was resumed without its memory:
   * whoever started something in it for all its life has to start that again.
   */
  public long waking(SandboxId id) {
    return living.waking(id);
  }

  private String providerOf(SandboxId id) {
    return book.find(id).map(SandboxEntry::provider).orElse(Recorder.NOBODY);
  }

  private Pausing pausing(SandboxId id) {
    SandboxEntry entry = book.need(id);
    return living
        .of(entry)
        .as(Pausing.class)
        .orElseThrow(() -> Capability.unsupported(entry.provider(), "pausing"));
  }

  private SandboxEntry become(SandboxId id, SandboxState state) {
    return book.change(
        id, current -> current.state() == state ? current : book.moved(current, state, null));
  }

  /** Destroys a sandbox; returns when nothing is left. Does nothing to one that is gone. */
  public void destroy(SandboxId id, Destroy how) {
    measured.deed(Deed.DESTROY, providerOf(id), () -> ender.end(id, how, "destroyed by its owner"));
  }

  /** Counts the sandboxes that are not destroyed. */
  public List<StateCount> counts() {
    return ledger.sandboxes().counts().stream().map(Views::of).toList();
  }

  /** Returns what was promised to sandboxes, and what is left. */
  public Admission.Usage promised() {
    return admission.usage();
  }

  /**
   * Makes {@code count} sandboxes with the files that one has now.
   *
   * @return for each of them the sandbox, or why there is none
   */
  public List<Forked> fork(SandboxId id, int count) {
    return fork(id, count, ForkKind.FILESYSTEM);
  }

  /** Makes {@code count} sandboxes for a client that may not ask for anything of the host. */
  public List<Forked> fork(SandboxId id, int count, ForkKind kind) {
    return fork(id, count, kind, false);
  }

  /**
   * Makes {@code count} sandboxes that begin with what one has now.
   *
   * @param hostAccess whether the client may ask for what the sandbox has of the host
   * @throws dev.isola.spi.error.Unsupported when that cannot be had, with nothing done
   */
  public List<Forked> fork(SandboxId id, int count, ForkKind kind, boolean hostAccess) {
    refuseWhenClosing();
    return new Forks(
            book,
            snapshots,
            secrets,
            this::sandbox,
            order -> create(hostAccess ? order.withHostAccess() : order),
            log)
        .fork(id, count, kind);
  }

  public Snapshots snapshots() {
    return snapshots;
  }

  public EventLog events() {
    return events;
  }

  public WarmPool pool() {
    return pool;
  }

  public Metrics metrics() {
    return metrics;
  }

  /** Returns where spans go. */
  public Traces traces() {
    return traces;
  }

  private static void refuseUnlessAlive(SandboxEntry entry) {
    if (entry.dueAt().isEmpty()
        && entry.state() != SandboxState.RUNNING
        && entry.state() != SandboxState.PAUSED
        && entry.state() != SandboxState.STOPPED) {
      throw Fault.of(
              ErrorCode.SANDBOX_DESTROYED,
              "sandbox " + entry.id() + " is " + entry.state() + " and cannot be renewed",
              "create a new sandbox")
          .sandbox(entry.id())
          .exception();
    }
  }

  private void refuseWhenClosing() {
    if (closing) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "this Isola is shutting down",
              "try again in a moment, or elsewhere")
          .exception();
    }
  }

  /** Stops looking after sandboxes; they go on, or are destroyed, as config says. */
  @Override
  public void close() {
    closing = true;
    schedule.close();
    pool.close();
    if (shutdown == Shutdown.DRAIN) {
      drain();
    }
    store.close();
    traces.close();
    metrics.close();
  }

  private void drain() {
    SandboxFilter filter = SandboxFilter.ALL.notDestroyed();
    String cursor = "";
    do {
      Page page = list(filter, cursor, Page.MAX_LIMIT);
      for (SandboxView entry : page.entries()) {
        schedule.attempt(
            "ending sandbox " + entry.id(),
            () -> ender.end(entry.id(), Destroy.FORCE, "the server was shut down"));
      }
      cursor = page.next().orElse("");
    } while (!cursor.isEmpty());
  }
}
