package dev.isola.engine.lifecycle;

import dev.isola.document.request.CreateRequest;
import dev.isola.document.request.Lifecycle;
import dev.isola.engine.admission.AdmissionControl;
import dev.isola.engine.admission.Grant;
import dev.isola.engine.admission.Resources;
import dev.isola.engine.api.Delivery;
import dev.isola.engine.event.EventLog;
import dev.isola.engine.ledger.Views;
import dev.isola.engine.placing.PlacementResult;
import dev.isola.engine.registry.Registry;
import dev.isola.engine.selection.Selection;
import dev.isola.engine.startup.StartupSequence;
import dev.isola.spi.Destroy;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.store.Attempt;
import dev.isola.store.Failpoint;
import dev.isola.store.SandboxEntry;
import java.time.Instant;
import java.time.InstantSource;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Makes sandboxes. The order never changes: the intent is written, then the sandbox is made and its
 * startup runs, then it is written that it runs, and only then is it handed out. A server that dies
 * in between leaves something that is written down, and so can be found and removed.
 */
public final class Creator {
  private static final Set<SandboxState> SETTLED =
      EnumSet.complementOf(EnumSet.of(SandboxState.CREATING));

  private final Choosing choosing;
  private final AdmissionControl admission;
  private final Registry registry;
  private final Book book;
  private final Ender ender;
  private final Living living;
  private final EventLog events;
  private final Secrets secrets;
  private final InstantSource clock;

  public Creator(
      Choosing choosing,
      AdmissionControl admission,
      Registry registry,
      Book book,
      Ender ender,
      Living living,
      EventLog events,
      Secrets secrets,
      InstantSource clock) {
    this.choosing = choosing;
    this.admission = admission;
    this.registry = registry;
    this.book = book;
    this.ender = ender;
    this.living = living;
    this.events = events;
    this.secrets = secrets;
    this.clock = clock;
  }

  /**
   * Makes a sandbox, or takes a warm one.
   *
   * @throws SandboxException when no provider may or can; nothing is left then
   */
  public Delivery create(Order order, Warm warm) {
    Selection selection = choosing.select(order.request());
    Failpoint.CREATE_SELECTED.reach();
    if (!order.fixedId() && order.startup().isEmpty()) {
      Optional<Book.Opened> claimed = warm.claim(order, selection);
      if (claimed.isPresent()) {
        return handOut(order, claimed.get());
      }
    }
    return make(order, selection, false);
  }

  /** Makes a sandbox for the pool, which belongs to nobody yet. */
  public Delivery createPooled(Order order) {
    return make(order, choosing.select(order.request()), true);
  }

  /** Returns the provider that would make a sandbox now; empty when none may. */
  public Optional<String> providerFor(Order order) {
    return choosing.select(order.request()).best().map(ProviderInfo::name);
  }

  /**
   * Returns the hash by which a sandbox in the warm pool is found. It includes the image itself: a
   * name may stand for another one by tomorrow.
   */
  public String poolHash(CreateRequest request, String provider) {
    SandboxSpec spec = request.spec();
    return SpecText.hash(
        request,
        spec.image().isEmpty() ? Optional.empty() : registry.get(provider).imageDigest(spec));
  }

  private Delivery handOut(Order order, Book.Opened opened) {
    return switch (opened) {
      case Book.Opened.Before(SandboxId id, boolean same) -> again(order, id, same);
      case Book.Opened.New(SandboxEntry entry) -> {
        Failpoint.CREATE_HANDED_OUT.reach();
        Sandbox sandbox = living.of(entry);
        Lifecycle lifecycle = order.request().lifecycle();
        lifecycle
            .ttl()
            .map(ttl -> Deadlines.given(lifecycle, ttl))
            .ifPresent(ttl -> Deadlines.tell(sandbox, ttl));
        yield new Delivery(Views.of(entry), sandbox, false);
      }
    };
  }

  private Delivery make(Order order, Selection selection, boolean pooled) {
    Optional<ProviderInfo> best = selection.best();
    if (best.isEmpty()) {
      // Nobody is tried; it says why nobody may.
      return deliver(choosing.place(selection, name -> registry.get(name).create(spec(order))));
    }
    Resources asked = Resources.of(spec(order).limits());
    // Who asked for a sandbox comes before who might.
    List<String> names = selection.candidates().stream().map(ProviderInfo::name).toList();
    Grant grant =
        pooled ? admission.admitAtOnce(names, asked) : admission.admit(names, asked);
    Failpoint.CREATE_ADMITTED.reach();
    boolean kept = false;
    living.begin(spec(order).id());
    try {
      Book.Opened opened = book.open(intent(order, best.get(), pooled), order.boundKey());
      if (opened instanceof Book.Opened.Before(SandboxId id, boolean same)) {
        grant.close(); // nothing is promised to a client that only waits
        return again(order, id, same);
      }
      SandboxEntry entry = ((Book.Opened.New) opened).entry();
      Failpoint.CREATE_WRITTEN.reach();
      Delivery delivery =
          make(new Making(entry, book, registry, order, choosing.images()), selection, grant);
      living.keep(delivery.entry().id(), grant);
      kept = true;
      Failpoint.CREATE_DELIVERED.reach();
      return delivery;
    } finally {
      living.made(spec(order).id());
      if (!kept) {
        grant.close();
      }
    }
  }

  private Delivery make(Making making, Selection selection, Grant grant) {
    try {
      secrets.put(making.spec().id(), making.spec().secretEnv());
      PlacementResult placement = choosing.place(selection, name -> at(name, making, grant));
      grant.started();
      Failpoint.CREATE_MADE.reach();
      start(placement.sandbox(), making);
      Instant now = clock.instant(); // from which on it may be idle
      SandboxEntry.Builder running =
          making.entry().toBuilder().state(SandboxState.RUNNING).updatedAt(now).lastActivity(now);
      placement
          .attempts()
          .forEach(one -> running.attempt(new Attempt(one.provider(), one.reason(), one.at())));
      Optional<SandboxEntry> stored = book.write(making.entry(), running.build());
      if (stored.isEmpty()) {
        throw Making.destroyedMeanwhile(making.entry().id());
      }
      Failpoint.CREATE_RUNNING.reach();
      living.keep(placement.sandbox());
      return new Delivery(Views.of(stored.get()), placement.sandbox(), false);
    } catch (SandboxException e) {
      clean(making.entry().id(), e);
      throw e;
    }
  }

  private Sandbox at(String provider, Making making, Grant grant) {
    admission.move(grant, provider);
    return making.at(provider);
  }

  /** Runs the startup. It is the client's: when it fails, no other provider is tried. */
  private void start(Sandbox sandbox, Making making) {
    if (making.startup().isEmpty()) {
      return;
    }
    try {
      new StartupSequence(sandbox, making.spec().volumes(), making.startup()).run();
    } catch (SandboxException e) {
      SandboxId id = making.entry().id();
      if (e.code() == ErrorCode.CANCELLED || book.need(id).state() == SandboxState.CREATING) {
        throw e;
      }
      SandboxException destroyed = Making.destroyedMeanwhile(id);
      destroyed.addSuppressed(e);
      throw destroyed;
    }
  }

  /** The same order once more: its sandbox is waited for, not made a second time. */
  private Delivery again(Order order, SandboxId id, boolean same) {
    if (!same) {
      throw Fault.of(
              ErrorCode.CONFLICT,
              "the idempotency key was used before, for another request",
              "use a new key for a new request")
          .sandbox(id)
          .exception();
    }
    try {
      Failpoint.CREATE_REPEATED.reach();
      SandboxEntry entry = events.waitForState(id, SETTLED, order.createTimeout());
      if (entry.state() == SandboxState.ERROR) {
        throw failedMeanwhile(entry);
      }
      return new Delivery(Views.of(entry), living.of(entry), true);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Fault.of(ErrorCode.CANCELLED, "interrupted while sandbox " + id + " was made", "")
          .sandbox(id)
          .exception(e);
    }
  }

  private SandboxEntry intent(Order order, ProviderInfo best, boolean pooled) {
    Instant now = clock.instant();
    SandboxSpec spec = spec(order);
    Lifecycle lifecycle = order.request().lifecycle();
    SandboxEntry.Builder intent =
        SandboxEntry.intent(
                spec.id(),
                SpecText.of(order.request()),
                pooled ? poolHash(order.request(), best.name()) : SpecText.hash(order.request()),
                best.name(),
                best.isolation(),
                now)
            .tenant(order.tenant())
            .labels(order.labels())
            .expiresAt(order.expiresAt(now).orElse(null))
            .idleTimeout(lifecycle.idleTimeout().orElse(null))
            .whenIdle(lifecycle.whenIdle())
            .whenExpired(lifecycle.whenExpired())
            .pooled(pooled);
    if (choosing.images().needed(spec)) {
      // Written down because it is true longer than the snapshot may be there.
      intent.baseImage(choosing.images().base(spec).image().orElse(""));
    }
    return intent.build();
  }

  /** Removes what is left of a sandbox, also when the client waits no longer. */
  private void clean(SandboxId id, SandboxException because) {
    boolean interrupted = Thread.interrupted();
    try {
      String why = because.fault().what();
      Failpoint.CREATE_FAILED.reach();
      book.change(
          id,
          current ->
              current.state() == SandboxState.CREATING
                  ? book.moved(current, SandboxState.ERROR, why)
                  : current);
      Failpoint.CREATE_FAILURE_WRITTEN.reach();
      ender.end(id, Destroy.FORCE, why);
    } catch (SandboxException left) {
      because.addSuppressed(left); // It is written down, and tried again later.
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static SandboxException failedMeanwhile(SandboxEntry entry) {
    return Fault.of(
            ErrorCode.SANDBOX_DESTROYED,
            "sandbox " + entry.id() + " failed" + entry.cause().map(why -> ": " + why).orElse(""),
            "create a new sandbox")
        .sandbox(entry.id())
        .exception();
  }

  private static SandboxSpec spec(Order order) {
    return order.request().spec();
  }

  private static Delivery deliver(PlacementResult placement) {
    throw new IllegalStateException("made by nobody: " + placement);
  }
}
