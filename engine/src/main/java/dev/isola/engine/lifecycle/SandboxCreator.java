package dev.isola.engine.lifecycle;

import dev.isola.document.request.CreateRequest;
import dev.isola.document.request.Lifecycle;
import dev.isola.engine.admission.AdmissionControl;
import dev.isola.engine.admission.Reservation;
import dev.isola.engine.admission.Resources;
import dev.isola.engine.api.CreateResult;
import dev.isola.engine.event.EventLog;
import dev.isola.engine.ledger.LedgerViews;
import dev.isola.engine.placement.PlacementResult;
import dev.isola.engine.registry.ProviderRegistry;
import dev.isola.engine.selection.Selection;
import dev.isola.engine.startup.StartupSequence;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.store.FailedAttempt;
import dev.isola.store.Failpoint;
import dev.isola.store.SandboxEntry;
import java.time.Instant;
import java.time.InstantSource;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Creates sandboxes, always in this order: record the intent, create the sandbox and run its
 * startup, record that it is running, return it to the client. Whatever a server that crashes in
 * between leaves behind is therefore recorded and can be found and removed.
 */
public final class SandboxCreator {
  private static final Set<SandboxState> SETTLED =
      EnumSet.complementOf(EnumSet.of(SandboxState.CREATING));

  private final SandboxPlacer placer;
  private final AdmissionControl admission;
  private final ProviderRegistry registry;
  private final SandboxRecorder book;
  private final SandboxDestroyer ender;
  private final LiveSandboxes living;
  private final EventLog events;
  private final SecretEnvStore secrets;
  private final InstantSource clock;

  public SandboxCreator(
      SandboxPlacer choosing,
      AdmissionControl admission,
      ProviderRegistry registry,
      SandboxRecorder book,
      SandboxDestroyer ender,
      LiveSandboxes living,
      EventLog events,
      SecretEnvStore secrets,
      InstantSource clock) {
    this.placer = choosing;
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
   * Creates a sandbox, or claims one from the warm pool.
   *
   * @throws SandboxException if no provider is eligible or can create it; nothing is left behind
   */
  public CreateResult create(SandboxRequest order, WarmSandboxes warm) {
    Selection selection = placer.select(order.request());
    Failpoint.CREATE_SELECTED.reach();
    if (!order.fixedId() && order.startup().isEmpty()) {
      Optional<SandboxRecorder.IntentResult> claimed = warm.claim(order, selection);
      if (claimed.isPresent()) {
        return handOut(order, claimed.get());
      }
    }
    return create(order, selection, false);
  }

  /** Creates a sandbox for the warm pool, not yet assigned to a client. */
  public CreateResult createPooled(SandboxRequest order) {
    return create(order, placer.select(order.request()), true);
  }

  /** Returns the provider that the engine would choose now; empty if none is eligible. */
  public Optional<String> providerFor(SandboxRequest order) {
    return placer.select(order.request()).best().map(ProviderInfo::name);
  }

  /**
   * Returns the hash that identifies matching sandboxes in the warm pool. It covers the digest of
   * the image, because an image name can point to a different image later.
   */
  public String poolHash(CreateRequest request, String provider) {
    SandboxSpec spec = request.spec();
    return SpecCodec.hash(
        request,
        spec.image().isEmpty() ? Optional.empty() : registry.get(provider).imageDigest(spec));
  }

  private CreateResult handOut(SandboxRequest order, SandboxRecorder.IntentResult opened) {
    return switch (opened) {
      case SandboxRecorder.IntentResult.Existing(SandboxId id, boolean same) ->
          awaitExisting(order, id, same);
      case SandboxRecorder.IntentResult.New(SandboxEntry entry) -> {
        Failpoint.CREATE_HANDED_OUT.reach();
        Sandbox sandbox = living.get(entry);
        Lifecycle lifecycle = order.request().lifecycle();
        lifecycle
            .ttl()
            .map(ttl -> Deadlines.forProvider(lifecycle, ttl))
            .ifPresent(ttl -> Deadlines.renew(sandbox, ttl));
        yield new CreateResult(LedgerViews.of(entry), sandbox, false);
      }
    };
  }

  private CreateResult create(SandboxRequest order, Selection selection, boolean pooled) {
    Optional<ProviderInfo> best = selection.best();
    if (best.isEmpty()) {
      // Throws the error that lists the reason of each provider, because there is no candidate.
      return unreachable(placer.place(selection, name -> registry.get(name).create(spec(order))));
    }
    Resources asked = Resources.of(spec(order).limits());
    // Requests of clients may wait for capacity; the pool only uses what is free.
    List<String> names = selection.candidates().stream().map(ProviderInfo::name).toList();
    Reservation grant = pooled ? admission.admitNow(names, asked) : admission.admit(names, asked);
    Failpoint.CREATE_ADMITTED.reach();
    boolean kept = false;
    living.beginTransition(spec(order).id());
    try {
      SandboxRecorder.IntentResult opened =
          book.recordIntent(intent(order, best.get(), pooled), order.idempotencyKey());
      if (opened instanceof SandboxRecorder.IntentResult.Existing(SandboxId id, boolean same)) {
        grant.close(); // a repeated request only waits and needs no reservation
        return awaitExisting(order, id, same);
      }
      SandboxEntry entry = ((SandboxRecorder.IntentResult.New) opened).entry();
      Failpoint.CREATE_WRITTEN.reach();
      CreateResult delivery =
          create(
              new SandboxCreation(entry, book, registry, order, placer.images()), selection, grant);
      living.put(delivery.view().id(), grant);
      kept = true;
      Failpoint.CREATE_DELIVERED.reach();
      return delivery;
    } finally {
      living.endTransition(spec(order).id());
      if (!kept) {
        grant.close();
      }
    }
  }

  private CreateResult create(SandboxCreation making, Selection selection, Reservation grant) {
    try {
      secrets.put(making.spec().id(), making.spec().secretEnv());
      PlacementResult placement = placer.place(selection, name -> createAt(name, making, grant));
      grant.markStarted();
      Failpoint.CREATE_MADE.reach();
      runStartup(placement.sandbox(), making);
      Instant now = clock.instant(); // the idle timeout starts now
      SandboxEntry.Builder running =
          making.entry().toBuilder().state(SandboxState.RUNNING).updatedAt(now).lastActivity(now);
      placement
          .attempts()
          .forEach(
              one -> running.attempt(new FailedAttempt(one.provider(), one.reason(), one.at())));
      Optional<SandboxEntry> stored = book.update(making.entry(), running.build());
      if (stored.isEmpty()) {
        throw SandboxCreation.destroyedDuringCreate(making.entry().id());
      }
      Failpoint.CREATE_RUNNING.reach();
      living.put(placement.sandbox());
      return new CreateResult(LedgerViews.of(stored.get()), placement.sandbox(), false);
    } catch (SandboxException e) {
      cleanUp(making.entry().id(), e);
      throw e;
    }
  }

  private Sandbox createAt(String provider, SandboxCreation making, Reservation grant) {
    admission.move(grant, provider);
    return making.createAt(provider);
  }

  /**
   * Runs the startup. Its commands come from the client, so a failure does not fall back to another
   * provider.
   */
  private void runStartup(Sandbox sandbox, SandboxCreation making) {
    if (making.startup().isEmpty()) {
      return;
    }
    try {
      new StartupSequence(sandbox, making.spec().volumes(), making.startup()).run();
    } catch (SandboxException e) {
      SandboxId id = making.entry().id();
      if (e.code() == ErrorCode.CANCELLED || book.require(id).state() == SandboxState.CREATING) {
        throw e;
      }
      SandboxException destroyed = SandboxCreation.destroyedDuringCreate(id);
      destroyed.addSuppressed(e);
      throw destroyed;
    }
  }

  /** Handles a repeated request: waits for the sandbox of the first one. */
  private CreateResult awaitExisting(SandboxRequest order, SandboxId id, boolean same) {
    if (!same) {
      throw Fault.of(
              ErrorCode.CONFLICT,
              "the idempotency key was already used for a different request",
              "use a new key for a new request")
          .sandbox(id)
          .exception();
    }
    try {
      Failpoint.CREATE_REPEATED.reach();
      SandboxEntry entry = events.waitForState(id, SETTLED, order.createTimeout());
      if (entry.state() == SandboxState.ERROR) {
        throw failedDuringCreate(entry);
      }
      return new CreateResult(LedgerViews.of(entry), living.get(entry), true);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Fault.of(
              ErrorCode.CANCELLED, "interrupted while sandbox " + id + " was being created", "")
          .sandbox(id)
          .exception(e);
    }
  }

  private SandboxEntry intent(SandboxRequest order, ProviderInfo best, boolean pooled) {
    Instant now = clock.instant();
    SandboxSpec spec = spec(order);
    Lifecycle lifecycle = order.request().lifecycle();
    SandboxEntry.Builder intent =
        SandboxEntry.intent(
                spec.id(),
                SpecCodec.encode(order.request()),
                pooled ? poolHash(order.request(), best.name()) : SpecCodec.hash(order.request()),
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
    if (placer.images().handles(spec)) {
      // Record the base image, because the snapshot may be removed before the sandbox is.
      intent.baseImage(placer.images().baseSpec(spec).image().orElse(""));
    }
    return intent.build();
  }

  /** Destroys a sandbox that could not be created, even if the calling thread was interrupted. */
  private void cleanUp(SandboxId id, SandboxException because) {
    boolean interrupted = Thread.interrupted();
    try {
      String why = because.fault().problem();
      Failpoint.CREATE_FAILED.reach();
      book.modify(
          id,
          current ->
              current.state() == SandboxState.CREATING
                  ? book.withState(current, SandboxState.ERROR, why)
                  : current);
      Failpoint.CREATE_FAILURE_WRITTEN.reach();
      ender.destroy(id, DestroyOptions.FORCE, why);
    } catch (SandboxException left) {
      because.addSuppressed(left); // The failure is recorded, and reconciliation retries.
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static SandboxException failedDuringCreate(SandboxEntry entry) {
    return Fault.of(
            ErrorCode.SANDBOX_DESTROYED,
            "sandbox " + entry.id() + " failed" + entry.cause().map(why -> ": " + why).orElse(""),
            "create a new sandbox")
        .sandbox(entry.id())
        .exception();
  }

  private static SandboxSpec spec(SandboxRequest order) {
    return order.request().spec();
  }

  private static CreateResult unreachable(PlacementResult placement) {
    throw new IllegalStateException("placement without candidates succeeded: " + placement);
  }
}
