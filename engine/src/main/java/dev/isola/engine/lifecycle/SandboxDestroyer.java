package dev.isola.engine.lifecycle;

import dev.isola.engine.api.Log;
import dev.isola.engine.api.registry.ProviderRegistry;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.Provider;
import dev.isola.store.Failpoint;
import dev.isola.store.SandboxEntry;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Destroys sandboxes. The destruction is recorded before it starts, so that reconciliation can
 * finish one that was interrupted.
 */
public final class SandboxDestroyer {
  private final SandboxRecorder recorder;
  private final ProviderRegistry registry;
  private final LiveSandboxes liveSandboxes;
  private final SuspensionStorage suspensions;
  private final SecretEnvStore secrets;
  private final Log log;

  public SandboxDestroyer(
      SandboxRecorder recorder,
      ProviderRegistry registry,
      LiveSandboxes liveSandboxes,
      SuspensionStorage suspensions,
      SecretEnvStore secrets,
      Log log) {
    this.recorder = recorder;
    this.registry = registry;
    this.liveSandboxes = liveSandboxes;
    this.suspensions = suspensions;
    this.secrets = secrets;
    this.log = log;
  }

  /**
   * Destroys a sandbox and returns when nothing of it is left. Does nothing if it is already gone.
   *
   * @param why the cause to record in the ledger
   * @throws dev.isola.spi.error.NotFound if no such sandbox was ever created
   */
  public void destroy(SandboxId id, DestroyOptions options, String why) {
    destroyIf(id, any -> true, options, why);
  }

  /** Destroys a sandbox if its current entry still satisfies a condition. */
  public void destroyIf(
      SandboxId id, Predicate<SandboxEntry> still, DestroyOptions options, String why) {
    Failpoint.END_BEGUN.reach();
    SandboxEntry entry =
        recorder.modify(id, current -> still.test(current) ? terminating(current, why) : current);
    if (entry.state() == SandboxState.TERMINATING) {
      finishDestroy(entry, options);
    }
  }

  private SandboxEntry terminating(SandboxEntry current, String why) {
    return switch (current.state()) {
      case DESTROYED, TERMINATING -> current;
      case CREATING, RUNNING, PAUSED, STOPPED, ERROR ->
          recorder.withState(current, SandboxState.TERMINATING, why);
    };
  }

  /** Destroys a sandbox that is recorded as terminating, and records it as destroyed. */
  public void finishDestroy(SandboxEntry terminating, DestroyOptions options) {
    SandboxId id = terminating.id();
    Failpoint.END_WRITTEN.reach();
    liveSandboxes.beginDestroy(id);
    Optional<String> remains;
    try {
      remains = destroyAtProvider(terminating, options);
    } catch (RuntimeException e) {
      liveSandboxes.cancelDestroy(id);
      throw e;
    }
    Failpoint.END_DESTROYED.reach();
    liveSandboxes.remove(id);
    Failpoint.END_DROPPED.reach();
    SuspensionState.snapshot(terminating).ifPresent(suspensions::delete);
    recorder.modify(
        id,
        current ->
            current.state() == SandboxState.TERMINATING
                ? recorder.withState(current, SandboxState.DESTROYED, remains.orElse(null))
                : current);
    secrets.remove(id);
    Failpoint.END_FINISHED.reach();
  }

  /**
   * Destroys a sandbox at its provider. If that fails but no process is left, only files remain:
   * for the client the sandbox is gone, and its resources are free. The reconciler finds the
   * remains in the inventory of the provider and retries until they are removed.
   *
   * @return why something remains
   */
  private Optional<String> destroyAtProvider(SandboxEntry terminating, DestroyOptions options) {
    if (terminating.provider().isEmpty()) {
      return Optional.empty(); // an unreadable record, for which no provider is known
    }
    Provider provider = registry.get(terminating.provider());
    try {
      provider.destroy(terminating.id(), options);
      return Optional.empty();
    } catch (SandboxException e) {
      if (e.code() == ErrorCode.UNSAVED_WORK || isRunning(provider, terminating.id(), e)) {
        throw e;
      }
      String why =
          terminating.cause().map(cause -> cause + "; ").orElse("")
              + "its remaining files will be removed later: "
              + e.fault().problem();
      log.warning("sandbox " + terminating.id() + " has no processes left; " + why);
      return Optional.of(why);
    }
  }

  /**
   * Returns whether the sandbox still runs. Assumes that it does if the provider does not answer.
   */
  private static boolean isRunning(Provider provider, SandboxId id, SandboxException failure) {
    try {
      return provider.attach(id).isPresent();
    } catch (SandboxException e) {
      failure.addSuppressed(e);
      return true;
    }
  }
}
