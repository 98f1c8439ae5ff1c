package dev.isola.engine.api.sandbox;

import dev.isola.engine.api.SandboxCount;
import dev.isola.engine.api.SandboxListFilter;
import dev.isola.engine.api.SandboxPage;
import dev.isola.engine.api.SandboxStatus;
import dev.isola.engine.api.SandboxView;
import dev.isola.engine.api.event.EventLog;
import dev.isola.engine.ledger.LedgerViews;
import dev.isola.engine.lifecycle.Deadlines;
import dev.isola.engine.lifecycle.ExclusiveOperation;
import dev.isola.engine.lifecycle.ExpirySweeper;
import dev.isola.engine.lifecycle.LiveSandboxes;
import dev.isola.engine.lifecycle.LiveSandboxes.AttachedSandbox;
import dev.isola.engine.lifecycle.Quarantine;
import dev.isola.engine.lifecycle.SandboxDestroyer;
import dev.isola.engine.lifecycle.SandboxRecorder;
import dev.isola.engine.lifecycle.SnapshotSuspension;
import dev.isola.engine.lifecycle.Suspender;
import dev.isola.engine.lifecycle.SuspensionState;
import dev.isola.engine.metrics.EngineOperation;
import dev.isola.engine.metrics.Instrumentation;
import dev.isola.engine.metrics.MetricsRecorder;
import dev.isola.engine.spec.SpecCodec;
import dev.isola.engine.usage.StatusReader;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Pausing.PauseKind;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.store.EntryPage;
import dev.isola.store.Failpoint;
import dev.isola.store.Ledger;
import dev.isola.store.SandboxEntry;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Uses, describes, suspends and destroys sandboxes that exist, for clients and for the engine. */
public final class Sandboxes {
  private final Ledger ledger;
  private final SandboxRecorder recorder;
  private final EventLog events;
  private final Quarantine quarantine;
  private final LiveSandboxes liveSandboxes;
  private final SnapshotSuspension snapshots;
  private final Suspender suspender;
  private final SandboxDestroyer destroyer;
  private final ExpirySweeper expiry;
  private final StatusReader status;
  private final Instrumentation instrumentation;
  private final InstantSource clock;
  private final TimedDestroyer timedDestroyer = new TimedDestroyer(this::destroy);

  public Sandboxes(
      Ledger ledger,
      SandboxRecorder recorder,
      EventLog events,
      Quarantine quarantine,
      LiveSandboxes liveSandboxes,
      SnapshotSuspension snapshots,
      Suspender suspender,
      SandboxDestroyer destroyer,
      ExpirySweeper expiry,
      StatusReader status,
      Instrumentation instrumentation,
      InstantSource clock) {
    this.ledger = ledger;
    this.recorder = recorder;
    this.events = events;
    this.quarantine = quarantine;
    this.liveSandboxes = liveSandboxes;
    this.snapshots = snapshots;
    this.suspender = suspender;
    this.destroyer = destroyer;
    this.expiry = expiry;
    this.status = status;
    this.instrumentation = instrumentation;
    this.clock = clock;
  }

  /**
   * Returns the recorded state of a sandbox. A sandbox whose record is unreadable has state {@code
   * error}.
   */
  public SandboxView view(SandboxId id) {
    return toView(recorder.require(id));
  }

  /**
   * Returns the condition of a sandbox: whether it works, what it uses, and its latest failures.
   * Neither counts as activity nor resumes it.
   */
  public SandboxStatus status(SandboxId id) {
    SandboxEntry entry = recorder.require(id);
    return status.read(entry, toView(entry));
  }

  /**
   * Waits until a sandbox is in one of the given states; empty if it is not within {@code timeout}.
   *
   * @throws dev.isola.spi.error.NotFound if there is no such sandbox
   * @throws dev.isola.spi.error.Conflict if it can no longer reach any of them
   */
  public Optional<SandboxView> awaitState(SandboxId id, Set<SandboxState> states, Duration timeout)
      throws InterruptedException {
    return events.awaitState(id, states, timeout).map(this::toView);
  }

  /**
   * Waits until a sandbox is in one of the given states, like {@link #awaitState}.
   *
   * @throws dev.isola.spi.error.DeadlineExceeded if it does not reach one within {@code timeout}
   */
  public SandboxView waitForState(SandboxId id, Set<SandboxState> states, Duration timeout)
      throws InterruptedException {
    return toView(events.waitForState(id, states, timeout));
  }

  private SandboxView toView(SandboxEntry entry) {
    return LedgerViews.of(quarantine.asError(entry));
  }

  /**
   * Lists the recorded state of sandboxes. A sandbox whose record is unreadable has state {@code
   * error}.
   */
  public SandboxPage list(SandboxListFilter filter, String after, int limit) {
    EntryPage page = ledger.sandboxes().list(LedgerViews.of(filter), after, limit);
    return new SandboxPage(page.entries().stream().map(this::toView).toList(), page.next());
  }

  /** Returns the number of sandboxes that are not destroyed, by provider and state. */
  public List<SandboxCount> counts() {
    return ledger.sandboxes().countByState().stream().map(LedgerViews::of).toList();
  }

  /**
   * Returns a sandbox to work with. The call counts as activity and resumes a suspended sandbox.
   *
   * @throws dev.isola.spi.error.NotFound if no such sandbox was ever created
   * @throws dev.isola.spi.error.Gone if the sandbox no longer exists
   */
  public Sandbox get(SandboxId id) {
    AttachedSandbox attached =
        liveSandboxes
            .find(id)
            .filter(one -> one.sandbox().state() == SandboxState.RUNNING)
            .orElseGet(() -> attach(id));
    expiry.touch(id);
    return instrumentation.sandbox(attached.sandbox(), attached.provider());
  }

  private AttachedSandbox attach(SandboxId id) {
    SandboxEntry entry = recorder.require(id);
    if (SuspensionState.resumesOnRequest(entry)
        && (entry.state() == SandboxState.PAUSED || entry.state() == SandboxState.STOPPED)) {
      entry = measureResume(id);
    }
    return new AttachedSandbox(liveSandboxes.get(entry), entry.provider());
  }

  /**
   * Sets the expiry of a sandbox to {@code fromNow} from the current time. The ledger is
   * authoritative; the provider is informed afterwards.
   */
  public SandboxView renew(SandboxId id, Duration fromNow) {
    SandboxEntry entry =
        recorder.modify(
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
      Duration given =
          Deadlines.forProvider(SpecCodec.decode(entry.spec(), id).lifecycle(), fromNow);
      Deadlines.renew(liveSandboxes.get(entry), given);
    }
    Failpoint.RENEW_APPLIED.reach();
    return LedgerViews.of(entry);
  }

  public SandboxView pause(SandboxId id, PauseKind kind) {
    return LedgerViews.of(
        instrumentation.measure(EngineOperation.PAUSE, providerOf(id), () -> doPause(id, kind)));
  }

  private SandboxEntry doPause(SandboxId id, PauseKind kind) {
    SandboxState state = kind == PauseKind.MEMORY ? SandboxState.PAUSED : SandboxState.STOPPED;
    pausing(id).pause(kind);
    Failpoint.PAUSE_DONE.reach();
    SandboxEntry paused =
        recorder.modify(
            id,
            current ->
                current.state() == state ? current : recorder.withState(current, state, null));
    Failpoint.PAUSE_WRITTEN.reach();
    return paused;
  }

  /** Resumes a paused or suspended sandbox. */
  public SandboxView resume(SandboxId id) {
    return LedgerViews.of(measureResume(id));
  }

  private SandboxEntry measureResume(SandboxId id) {
    return instrumentation.measure(EngineOperation.RESUME, providerOf(id), () -> doResume(id));
  }

  private SandboxEntry doResume(SandboxId id) {
    SandboxEntry before = recorder.require(id);
    if (SuspensionState.isSuspended(before)
        && snapshots.resume(id).state() == SandboxState.RUNNING) {
      return recorder.require(id);
    }
    try (LiveSandboxes.Operation _ =
        liveSandboxes.begin(id, ExclusiveOperation.SUSPENSION, SnapshotSuspension.RESUME_WAIT)) {
      return doResume(id, before);
    }
  }

  private SandboxEntry doResume(SandboxId id, SandboxEntry before) {
    pausing(id).resume();
    if (before.state() == SandboxState.STOPPED) {
      liveSandboxes.markRebooted(id);
    }
    Failpoint.RESUME_DONE.reach();
    SandboxEntry resumed =
        recorder.modify(
            id,
            current ->
                current.state() == SandboxState.RUNNING ? current : suspender.resumed(current));
    Failpoint.RESUME_WRITTEN.reach();
    suspender.renewDeadline(before, resumed, liveSandboxes.get(resumed));
    liveSandboxes.connect(resumed, liveSandboxes.get(resumed));
    return resumed;
  }

  private Pausing pausing(SandboxId id) {
    SandboxEntry entry = recorder.require(id);
    if (entry.state() == SandboxState.CREATING) {
      throw Fault.of(
              ErrorCode.ILLEGAL_STATE,
              "sandbox " + id + " is still being created",
              "wait until it is running")
          .sandbox(id)
          .exception();
    }
    return liveSandboxes
        .get(entry)
        .as(Pausing.class)
        .orElseThrow(() -> Capability.unsupported(entry.provider(), "pausing"));
  }

  private static void refuseUnlessAlive(SandboxEntry entry) {
    switch (entry.state()) {
      case RUNNING, PAUSED, STOPPED -> {}
      case CREATING, ERROR, TERMINATING, DESTROYED ->
          throw Fault.of(
                  ErrorCode.SANDBOX_DESTROYED,
                  "sandbox " + entry.id() + " is " + entry.state() + " and cannot be renewed",
                  "create a new sandbox")
              .sandbox(entry.id())
              .exception();
    }
  }

  /**
   * Returns a number that changes whenever the sandbox is resumed without its memory. A client that
   * keeps a process running for the lifetime of the sandbox must then start it again.
   */
  public long bootGeneration(SandboxId id) {
    return liveSandboxes.bootGeneration(id);
  }

  private String providerOf(SandboxId id) {
    return recorder.find(id).map(SandboxEntry::provider).orElse(MetricsRecorder.NO_PROVIDER);
  }

  /**
   * Destroys a sandbox and returns when nothing of it is left. Does nothing if it is already gone.
   */
  public void destroy(SandboxId id, DestroyOptions options) {
    instrumentation.measure(
        EngineOperation.DESTROY,
        providerOf(id),
        () -> destroyer.destroy(id, options, "destroyed by a client"));
  }

  /**
   * Destroys a sandbox like {@link #destroy}, and waits no longer than the timeout of {@code
   * options}; the destruction then continues.
   *
   * @throws dev.isola.spi.error.DeadlineExceeded if the sandbox still exists after that time
   */
  public void destroyWithin(SandboxId id, DestroyOptions options) {
    timedDestroyer.destroy(id, options);
  }
}
