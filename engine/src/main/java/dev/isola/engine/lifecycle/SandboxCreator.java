package dev.isola.engine.lifecycle;

import dev.isola.document.request.CreateRequest;
import dev.isola.document.request.Lifecycle;
import dev.isola.engine.admission.AdmissionControl;
import dev.isola.engine.admission.Reservation;
import dev.isola.engine.admission.Resources;
import dev.isola.engine.api.CreateResult;
import dev.isola.engine.event.EventLog;
import dev.isola.engine.ledger.LedgerViews;
import dev.isola.engine.placement.Fallback;
import dev.isola.engine.placement.PlacementPlan;
import dev.isola.engine.placement.PlacementResult;
import dev.isola.engine.registry.ProviderRegistry;
import dev.isola.engine.secret.SecretReferences;
import dev.isola.engine.secret.SecretVariables;
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
  /** The cause of a sandbox whose creation neither succeeded nor failed. */
  public static final String INTERRUPTED = "the server stopped while the sandbox was being created";

  private static final Set<SandboxState> SETTLED =
      EnumSet.complementOf(EnumSet.of(SandboxState.CREATING));

  private final SandboxPlacer placer;
  private final AdmissionControl admission;
  private final ProviderRegistry registry;
  private final SandboxRecorder recorder;
  private final SandboxDestroyer destroyer;
  private final LiveSandboxes liveSandboxes;
  private final EventLog events;
  private final SecretEnvStore secrets;
  private final SandboxNetworks networks;
  private final SecretVariables variables;
  private final InstantSource clock;

  public SandboxCreator(
      SandboxPlacer placer,
      AdmissionControl admission,
      ProviderRegistry registry,
      SandboxRecorder recorder,
      SandboxDestroyer destroyer,
      LiveSandboxes liveSandboxes,
      EventLog events,
      SecretEnvStore secrets,
      SandboxNetworks networks,
      SecretVariables variables,
      InstantSource clock) {
    this.placer = placer;
    this.admission = admission;
    this.registry = registry;
    this.recorder = recorder;
    this.destroyer = destroyer;
    this.liveSandboxes = liveSandboxes;
    this.events = events;
    this.secrets = secrets;
    this.networks = networks;
    this.variables = variables;
    this.clock = clock;
  }

  /**
   * Creates a sandbox, or claims one from the warm pool.
   *
   * @throws SandboxException if no provider is eligible or can create it; nothing is left behind
   */
  public CreateResult create(SandboxRequest request, WarmSandboxes warm) {
    Selection selection = placer.select(request.request());
    Failpoint.CREATE_SELECTED.reach();
    if (mayBeWarm(request)) {
      Optional<SandboxRecorder.IntentResult> claimed = warm.claim(request, selection);
      if (claimed.isPresent()) {
        return returnClaimed(request, claimed.get());
      }
    }
    return create(request, placer.balance(selection), false);
  }

  /** Returns what {@link #create} would do now. Changes nothing. */
  public PlacementPlan plan(SandboxRequest request, WarmSandboxes warm) {
    Selection selection = placer.select(request.request());
    if (selection.best().isEmpty()) {
      return new PlacementPlan(selection, false, Optional.of(Fallback.refused(selection)));
    }
    boolean isWarm = mayBeWarm(request) && warm.isReady(request, selection);
    return new PlacementPlan(
        isWarm ? selection : placer.balance(selection), isWarm, Optional.empty());
  }

  /** A warm sandbox has not the placeholders that its secrets have now. */
  private static boolean mayBeWarm(SandboxRequest request) {
    return !request.fixedId()
        && request.startup().isEmpty()
        && SecretReferences.of(spec(request).network().egress()).isEmpty();
  }

  /** Creates a sandbox for the warm pool, not yet assigned to a client. */
  public CreateResult createPooled(SandboxRequest request) {
    if (placer.images().containsProcesses(spec(request))) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "the warm pool cannot be filled from a snapshot of memory",
              "use a snapshot of files in the pool, or remove the pool")
          .exception();
    }
    variables.check(spec(request), request.key());
    return create(request, placer.select(request.request()), true);
  }

  /** Returns the provider that the engine would choose now; empty if none is eligible. */
  public Optional<String> providerFor(SandboxRequest request) {
    return placer.select(request.request()).best().map(ProviderInfo::name);
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

  private CreateResult returnClaimed(SandboxRequest request, SandboxRecorder.IntentResult opened) {
    return switch (opened) {
      case SandboxRecorder.IntentResult.Existing(SandboxId id, boolean sameRequest) ->
          awaitExisting(request, id, sameRequest);
      case SandboxRecorder.IntentResult.New(SandboxEntry entry) -> {
        Failpoint.CREATE_HANDED_OUT.reach();
        Sandbox sandbox = liveSandboxes.get(entry);
        Lifecycle lifecycle = request.request().lifecycle();
        lifecycle
            .ttl()
            .map(ttl -> Deadlines.forProvider(lifecycle, ttl))
            .ifPresent(ttl -> Deadlines.renew(sandbox, ttl));
        yield new CreateResult(LedgerViews.of(entry), sandbox, false);
      }
    };
  }

  private CreateResult create(SandboxRequest request, Selection selection, boolean pooled) {
    Optional<ProviderInfo> best = selection.best();
    if (best.isEmpty()) {
      // Throws the error that lists the reason of each provider, because there is no candidate.
      return unreachable(placer.place(selection, name -> registry.get(name).create(spec(request))));
    }
    Resources requested = Resources.of(spec(request).limits());
    // Requests of clients may wait for capacity; the pool only uses what is free.
    List<String> names = selection.candidates().stream().map(ProviderInfo::name).toList();
    Reservation reservation =
        pooled ? admission.admitNow(names, requested) : admission.admit(names, requested);
    Failpoint.CREATE_ADMITTED.reach();
    boolean kept = false;
    liveSandboxes.beginTransition(spec(request).id());
    try {
      SandboxRecorder.IntentResult opened =
          recorder.recordIntent(intent(request, best.get(), pooled), request.idempotencyKey());
      if (opened
          instanceof SandboxRecorder.IntentResult.Existing(SandboxId id, boolean sameRequest)) {
        reservation.close(); // a repeated request only waits and needs no reservation
        return awaitExisting(request, id, sameRequest);
      }
      SandboxEntry entry = ((SandboxRecorder.IntentResult.New) opened).entry();
      Failpoint.CREATE_WRITTEN.reach();
      CreateResult result =
          create(
              new SandboxCreation(
                  entry,
                  recorder,
                  registry,
                  request.withRequest(request.request().with(variables.addTo(spec(request)))),
                  placer.images(),
                  networks),
              selection,
              reservation);
      kept = true;
      Failpoint.CREATE_DELIVERED.reach();
      return result;
    } finally {
      liveSandboxes.endTransition(spec(request).id());
      if (!kept) {
        reservation.close();
      }
    }
  }

  private CreateResult create(
      SandboxCreation creation, Selection selection, Reservation reservation) {
    try {
      secrets.put(creation.spec().id(), creation.spec().secretEnv());
      PlacementResult placement =
          placer.place(selection, name -> createAt(name, creation, reservation));
      reservation.markStarted();
      Failpoint.CREATE_MADE.reach();
      runStartup(placement.sandbox(), creation);
      Instant now = clock.instant(); // the idle timeout starts now
      SandboxEntry.Builder running =
          creation.entry().toBuilder().state(SandboxState.RUNNING).updatedAt(now).lastActivity(now);
      placement
          .attempts()
          .forEach(
              one -> running.attempt(new FailedAttempt(one.provider(), one.reason(), one.at())));
      Optional<SandboxEntry> stored = recorder.update(creation.entry(), running.build());
      if (stored.isEmpty()) {
        SandboxEntry current = recorder.require(creation.entry().id());
        throw current.fence() > 0
            ? interrupted(current)
            : SandboxCreation.destroyedDuringCreate(current.id());
      }
      Failpoint.CREATE_RUNNING.reach();
      liveSandboxes.add(placement.sandbox(), reservation);
      return new CreateResult(LedgerViews.of(stored.get()), placement.sandbox(), false);
    } catch (SandboxException e) {
      cleanUp(creation.entry().id(), e);
      throw e;
    }
  }

  private Sandbox createAt(String provider, SandboxCreation creation, Reservation reservation) {
    admission.move(reservation, provider);
    return creation.createAt(provider);
  }

  /**
   * Runs the startup. Its commands come from the client, so a failure does not fall back to another
   * provider.
   */
  private void runStartup(Sandbox sandbox, SandboxCreation creation) {
    if (creation.startup().isEmpty()) {
      return;
    }
    try {
      new StartupSequence(sandbox, creation.spec().volumes(), creation.startup()).run();
    } catch (SandboxException e) {
      SandboxId id = creation.entry().id();
      if (e.code() == ErrorCode.CANCELLED
          || recorder.require(id).state() == SandboxState.CREATING) {
        throw e;
      }
      SandboxException destroyed = SandboxCreation.destroyedDuringCreate(id);
      destroyed.addSuppressed(e);
      throw destroyed;
    }
  }

  /** Handles a repeated request: waits for the sandbox of the first one. */
  private CreateResult awaitExisting(SandboxRequest request, SandboxId id, boolean sameRequest) {
    if (!sameRequest) {
      throw Fault.of(
              ErrorCode.CONFLICT,
              "the idempotency key was already used for a different request",
              "use a new key for a new request")
          .sandbox(id)
          .exception();
    }
    try {
      Failpoint.CREATE_REPEATED.reach();
      SandboxEntry entry = events.waitForState(id, SETTLED, request.createTimeout());
      if (hasEnded(entry) && !recorder.hasRun(id)) {
        throw wasInterrupted(entry) ? interrupted(entry) : failedDuringCreate(entry);
      }
      return new CreateResult(LedgerViews.of(entry), liveSandboxes.getOrRefusing(entry), true);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Fault.of(
              ErrorCode.CANCELLED, "interrupted while sandbox " + id + " was being created", "")
          .sandbox(id)
          .exception(e);
    }
  }

  private static boolean hasEnded(SandboxEntry entry) {
    return switch (entry.state()) {
      case CREATING, RUNNING, PAUSED, STOPPED -> false;
      case ERROR, TERMINATING, DESTROYED -> true;
    };
  }

  /**
   * Returns whether another server took over a sandbox that was being created, or its own server
   * found it unfinished after it had no lease for a while.
   */
  private static boolean wasInterrupted(SandboxEntry entry) {
    return entry.fence() > 0 || entry.cause().filter(INTERRUPTED::equals).isPresent();
  }

  private SandboxEntry intent(SandboxRequest request, ProviderInfo best, boolean pooled) {
    Instant now = clock.instant();
    SandboxSpec spec = spec(request);
    Lifecycle lifecycle = request.request().lifecycle();
    SandboxEntry.Builder intent =
        SandboxEntry.intent(
                spec.id(),
                SpecCodec.encode(request.request()),
                pooled
                    ? poolHash(request.request(), best.name())
                    : SpecCodec.hash(request.request()),
                best.name(),
                best.isolation(),
                now)
            .tenant(request.tenant())
            .labels(request.labels())
            .name(request.name().orElse(null))
            .expiresAt(request.expiresAt(now).orElse(null))
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
  private void cleanUp(SandboxId id, SandboxException failure) {
    boolean interrupted = Thread.interrupted();
    try {
      String why = failure.fault().problem();
      Failpoint.CREATE_FAILED.reach();
      recorder.modify(
          id,
          current ->
              current.state() == SandboxState.CREATING
                  ? recorder.withState(current, SandboxState.ERROR, why)
                  : current);
      Failpoint.CREATE_FAILURE_WRITTEN.reach();
      destroyer.destroy(id, DestroyOptions.FORCE, why);
    } catch (SandboxException left) {
      failure.addSuppressed(left); // The failure is recorded, and reconciliation retries.
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Returns the error for a sandbox whose server stopped, or lost its lease, while it created the
   * sandbox. The idempotency key has been released.
   */
  private static SandboxException interrupted(SandboxEntry entry) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "the server that was creating sandbox " + entry.id() + " stopped or lost its lease",
            "repeat the request")
        .sandbox(entry.id())
        .exception();
  }

  private static SandboxException failedDuringCreate(SandboxEntry entry) {
    return Fault.of(
            ErrorCode.SANDBOX_DESTROYED,
            "sandbox " + entry.id() + " failed" + entry.cause().map(why -> ": " + why).orElse(""),
            "create a new sandbox")
        .sandbox(entry.id())
        .exception();
  }

  private static SandboxSpec spec(SandboxRequest request) {
    return request.request().spec();
  }

  private static CreateResult unreachable(PlacementResult placement) {
    throw new IllegalStateException("placement without candidates succeeded: " + placement);
  }
}
