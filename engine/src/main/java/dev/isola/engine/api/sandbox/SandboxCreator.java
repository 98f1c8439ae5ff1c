package dev.isola.engine.api.sandbox;

import dev.isola.document.request.Lifecycle;
import dev.isola.document.request.ProviderPreference;
import dev.isola.engine.admission.AdmissionControl;
import dev.isola.engine.admission.Reservation;
import dev.isola.engine.api.CreateResult;
import dev.isola.engine.api.Log;
import dev.isola.engine.api.PlacementPlan;
import dev.isola.engine.api.Resources;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.Selection;
import dev.isola.engine.api.event.EventLog;
import dev.isola.engine.api.registry.ProviderRegistry;
import dev.isola.engine.egress.EgressService;
import dev.isola.engine.ledger.LedgerViews;
import dev.isola.engine.lifecycle.Deadlines;
import dev.isola.engine.lifecycle.LiveSandboxes;
import dev.isola.engine.lifecycle.SandboxDestroyer;
import dev.isola.engine.lifecycle.SandboxRecorder;
import dev.isola.engine.lifecycle.SandboxRecorder.IdempotencyKey;
import dev.isola.engine.lifecycle.SandboxRecorder.IntentResult;
import dev.isola.engine.lifecycle.SecretEnvStore;
import dev.isola.engine.metrics.EngineOperation;
import dev.isola.engine.metrics.Instrumentation;
import dev.isola.engine.metrics.MetricsRecorder;
import dev.isola.engine.placement.Fallback;
import dev.isola.engine.sandbox.ProviderCandidates;
import dev.isola.engine.sandbox.RequestResolver;
import dev.isola.engine.sandbox.WarmSandboxes;
import dev.isola.engine.secret.SecretVariables;
import dev.isola.engine.snapshot.SnapshotImages;
import dev.isola.engine.startup.StartupSequence;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.store.Failpoint;
import dev.isola.store.SandboxEntry;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;

/**
 * Creates sandboxes, always in this order: resolve and authorize the request, select the providers,
 * admit, record the intent, boot the sandbox and run its startup, record that it is running, return
 * it to the client. Whatever a server that crashes in between leaves behind is therefore recorded
 * and can be found and removed.
 */
public final class SandboxCreator {
  private final RequestResolver resolver;
  private final ProviderCandidates candidates;
  private final WarmSandboxes warm;
  private final AdmissionControl admission;
  private final SandboxRecorder recorder;
  private final SecretEnvStore secrets;
  private final SecretVariables variables;
  private final ProviderRegistry registry;
  private final SnapshotImages images;
  private final EgressService egress;
  private final LiveSandboxes liveSandboxes;
  private final SandboxDestroyer destroyer;
  private final RepeatedCreate repeated;
  private final Instrumentation instrumentation;
  private final InstantSource clock;
  private final Log log;
  private volatile boolean closing;

  public SandboxCreator(
      RequestResolver resolver,
      ProviderCandidates candidates,
      WarmSandboxes warm,
      AdmissionControl admission,
      SandboxRecorder recorder,
      SecretEnvStore secrets,
      SecretVariables variables,
      ProviderRegistry registry,
      SnapshotImages images,
      EgressService egress,
      LiveSandboxes liveSandboxes,
      SandboxDestroyer destroyer,
      EventLog events,
      Instrumentation instrumentation,
      InstantSource clock,
      Log log) {
    this.resolver = resolver;
    this.candidates = candidates;
    this.warm = warm;
    this.admission = admission;
    this.recorder = recorder;
    this.secrets = secrets;
    this.variables = variables;
    this.registry = registry;
    this.images = images;
    this.egress = egress;
    this.liveSandboxes = liveSandboxes;
    this.destroyer = destroyer;
    this.repeated = new RepeatedCreate(events, recorder, liveSandboxes);
    this.instrumentation = instrumentation;
    this.clock = clock;
    this.log = log;
  }

  /**
   * Creates a sandbox for a client like {@link #create(SandboxRequest, boolean)}.
   *
   * @throws SandboxException if no provider is eligible, or every eligible provider fails
   */
  public CreateResult create(SandboxRequest requested) {
    return create(requested, false);
  }

  /**
   * Creates a sandbox, or claims one from the warm pool. Returns after the startup has run and the
   * ledger records the sandbox as running.
   *
   * @param fork whether the sandbox is a fork, which does without secrets that were removed
   * @throws SandboxException if no provider is eligible, or every eligible provider fails; nothing
   *     is left behind
   */
  public CreateResult create(SandboxRequest requested, boolean fork) {
    refuseWhenClosing();
    SandboxRequest request = resolver.resolve(requested, fork);
    long start = System.nanoTime();
    CreateResult result;
    try {
      Selection selection = candidates.select(request.request());
      Failpoint.CREATE_SELECTED.reach();
      Optional<IntentResult> claimed =
          CreatePlanner.mayBeWarm(request) ? warm.claim(request, selection) : Optional.empty();
      result =
          claimed.isPresent()
              ? handOut(request, claimed.get())
              : createNew(request, candidates.balance(selection), Optional.empty());
    } catch (SandboxException e) {
      instrumentation
          .recorder()
          .recordCreate(requestedProvider(request), false, false, System.nanoTime() - start);
      instrumentation.recorder().recordError(EngineOperation.SPAWN, e.code());
      throw e;
    }
    if (!result.repeated()) {
      record(result, System.nanoTime() - start);
    }
    String provider = result.view().provider();
    resolver.volumes().recordProvider(request, provider);
    return new CreateResult(
        result.view(), instrumentation.sandbox(result.sandbox(), provider), result.repeated());
  }

  private void record(CreateResult created, long nanos) {
    MetricsRecorder metrics = instrumentation.recorder();
    String provider = created.view().provider();
    metrics.recordCreate(provider, created.view().warm(), true, nanos);
    if (!created.view().attempts().isEmpty()) {
      metrics.recordFallback(provider);
    }
  }

  /** Unknown names must not become metric labels. */
  private String requestedProvider(SandboxRequest request) {
    return request.request().placement().provider() instanceof ProviderPreference.Named(String name)
            && registry.providers().containsKey(name)
        ? name
        : MetricsRecorder.NO_PROVIDER;
  }

  /**
   * Returns what {@link #create} would do with this request now. Changes nothing.
   *
   * @throws InvalidRequest if the request is invalid, whatever the provider
   */
  public PlacementPlan plan(SandboxRequest requested) {
    try {
      SandboxRequest request = resolver.resolve(requested, false);
      Selection selection = candidates.select(request.request());
      boolean isWarm = CreatePlanner.mayBeWarm(request) && warm.isReady(request, selection);
      return isWarm ? new PlacementPlan(selection, true, Optional.empty()) : plan(selection);
    } catch (InvalidRequest e) {
      throw e;
    } catch (SandboxException e) {
      return planWithoutChecks(requested).failingWith(e);
    }
  }

  private PlacementPlan plan(Selection selection) {
    return selection.best().isEmpty()
        ? new PlacementPlan(selection, false, Optional.of(Fallback.refused(selection)))
        : new PlacementPlan(candidates.balance(selection), false, Optional.empty());
  }

  /** Returns a plan for a request that fails; without providers if they cannot be selected. */
  private PlacementPlan planWithoutChecks(SandboxRequest request) {
    try {
      return plan(candidates.select(request.request()));
    } catch (SandboxException e) {
      return new PlacementPlan(Selection.none(List.of(), false), false, Optional.of(e));
    }
  }

  /** Creates a sandbox for the warm pool, not yet assigned to a client. */
  public void createPooled(SandboxRequest request) {
    if (images.containsProcesses(spec(request))) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "the warm pool cannot be filled from a snapshot of memory",
              "use a snapshot of files in the pool, or remove the pool")
          .exception();
    }
    variables.check(spec(request), request.key());
    Selection selection = candidates.select(request.request());
    ProviderInfo best = selection.best().orElseThrow(() -> Fallback.refused(selection));
    CreateResult _ =
        createNew(request, selection, Optional.of(warm.hash(request.request(), best.name())));
  }

  /** Returns a warm sandbox to the client that claimed it. */
  private CreateResult handOut(SandboxRequest request, IntentResult claimed) {
    return switch (claimed) {
      case IntentResult.Existing existing -> repeated.await(request, existing);
      case IntentResult.New(SandboxEntry entry) -> {
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

  /**
   * @param poolHash the hash of a sandbox for the warm pool; empty if a client requested it
   */
  private CreateResult createNew(
      SandboxRequest request, Selection selection, Optional<String> poolHash) {
    ProviderInfo best = selection.best().orElseThrow(() -> Fallback.refused(selection));
    SandboxSpec spec = spec(request);
    Resources requested = Resources.of(spec.limits());
    // Requests of clients may wait for capacity; the pool only uses what is free.
    Reservation reservation =
        poolHash.isPresent()
            ? admission.admitNow(selection.names(), requested)
            : admission.admit(selection.names(), requested);
    Failpoint.CREATE_ADMITTED.reach();
    boolean kept = false;
    liveSandboxes.beginTransition(spec.id());
    try {
      SandboxEntry planned =
          CreatePlanner.intent(request, best, poolHash, baseImage(spec), clock.instant());
      IntentResult intent = recorder.recordIntent(planned, IdempotencyKey.of(request));
      if (intent instanceof IntentResult.Existing existing) {
        reservation.close(); // a repeated request only waits and needs no reservation
        return repeated.await(request, existing);
      }
      Failpoint.CREATE_WRITTEN.reach();
      CreateResult result =
          boot(request, ((IntentResult.New) intent).entry(), selection, reservation);
      kept = true;
      Failpoint.CREATE_DELIVERED.reach();
      return result;
    } finally {
      liveSandboxes.endTransition(spec.id());
      if (!kept) {
        reservation.close();
      }
    }
  }

  private Optional<String> baseImage(SandboxSpec spec) {
    return images.handles(spec)
        ? Optional.of(images.baseSpec(spec).image().orElse(""))
        : Optional.empty();
  }

  /** Boots the sandbox whose intent is recorded, and records that it runs. */
  private CreateResult boot(
      SandboxRequest request, SandboxEntry intent, Selection selection, Reservation reservation) {
    try {
      secrets.put(intent.id(), spec(request).secretEnv());
      SandboxSpec complete = variables.addTo(spec(request));
      SandboxBoot boot =
          new SandboxBoot(
              registry,
              recorder,
              images,
              egress,
              request.withRequest(request.request().with(complete)),
              intent);
      Fallback fallback = new Fallback(selection);
      Sandbox sandbox = null;
      while (sandbox == null) {
        ProviderInfo candidate = fallback.next();
        try {
          admission.move(reservation, candidate.name());
          sandbox = boot.at(candidate.name());
        } catch (RuntimeException e) {
          String report = fallback.failed(candidate, e, clock.instant());
          Failpoint.FALLBACK_NEXT.reach();
          log.warning(report);
        }
      }
      reservation.markStarted();
      Failpoint.CREATE_MADE.reach();
      runStartup(sandbox, request);
      SandboxEntry running =
          CreatePlanner.running(boot.entry(), fallback.attempts(), clock.instant());
      SandboxEntry stored =
          recorder.update(boot.entry(), running).orElseThrow(() -> changed(intent.id()));
      Failpoint.CREATE_RUNNING.reach();
      liveSandboxes.add(sandbox, reservation);
      return new CreateResult(LedgerViews.of(stored), sandbox, false);
    } catch (SandboxException e) {
      cleanUp(intent.id(), e);
      throw e;
    }
  }

  /**
   * Runs the startup. Its commands come from the client, so a failure does not fall back to another
   * provider.
   */
  private void runStartup(Sandbox sandbox, SandboxRequest request) {
    if (request.startup().isEmpty()) {
      return;
    }
    try {
      new StartupSequence(sandbox, spec(request).volumes(), request.startup()).run();
    } catch (SandboxException e) {
      if (e.code() == ErrorCode.CANCELLED
          || recorder.require(sandbox.id()).state() == SandboxState.CREATING) {
        throw e;
      }
      SandboxException destroyed = SandboxBoot.destroyedDuringCreate(sandbox.id());
      destroyed.addSuppressed(e);
      throw destroyed;
    }
  }

  /** Returns the error for a sandbox whose record has changed while it was being created. */
  private SandboxException changed(SandboxId id) {
    SandboxEntry current = recorder.require(id);
    return current.fence() > 0
        ? RepeatedCreate.interrupted(current)
        : SandboxBoot.destroyedDuringCreate(id);
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

  /** Refuses new sandboxes from now on. */
  public void close() {
    closing = true;
  }

  /**
   * @throws dev.isola.spi.error.ProviderUnavailable if the server is shutting down
   */
  public void refuseWhenClosing() {
    if (closing) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "the server is shutting down",
              "retry after it has restarted, or use another server")
          .exception();
    }
  }

  private static SandboxSpec spec(SandboxRequest request) {
    return request.request().spec();
  }
}
