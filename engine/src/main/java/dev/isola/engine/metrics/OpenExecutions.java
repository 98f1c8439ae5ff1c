package dev.isola.engine.metrics;

import dev.isola.engine.api.Log;
import dev.isola.engine.api.RecentErrors;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.ExecutionId;
import dev.isola.spi.exec.ExecutionInfo;
import dev.isola.spi.exec.Exit;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Executions that were started and whose end was not yet observed. Each duration is recorded once,
 * by the first observer of the end: the client that started the execution, a client that attached
 * later, or {@link #sweep} for background executions that no client follows.
 */
public final class OpenExecutions {
  private static final String OPERATION = "execution";

  private record Key(SandboxId sandbox, ExecutionId execution) {}

  /**
   * @param detached whether the client that started it has closed it
   */
  private record OpenExecution(String provider, boolean detached) {}

  private final MetricsRecorder recorder;
  private final RecentErrors errors;
  private final Map<Key, OpenExecution> open = new ConcurrentHashMap<>();

  public OpenExecutions(MetricsRecorder recorder, RecentErrors errors) {
    this.recorder = recorder;
    this.errors = errors;
  }

  void started(SandboxId sandbox, ExecutionId execution, String provider) {
    open.put(new Key(sandbox, execution), new OpenExecution(provider, false));
  }

  void ended(SandboxId sandbox, ExecutionId execution, Exit exit, Duration time) {
    OpenExecution known = open.remove(new Key(sandbox, execution));
    if (known != null) {
      recorder.recordExecutionEnd(
          known.provider(), ExecutionOutcome.of(exit), Math.max(0, time.toNanos()));
      recordFailure(sandbox, exit);
    }
  }

  /** Records an end that the command did not choose. The command itself may contain a secret. */
  private void recordFailure(SandboxId sandbox, Exit exit) {
    switch (exit) {
      case Exit.Exited _, Exit.Signaled _ -> {} // a result of the command
      case Exit.TimedOut(Duration after) ->
          errors.record(
              sandbox,
              OPERATION,
              ErrorCode.EXEC_TIMEOUT,
              "a command was killed at its timeout of " + after.toMillis() + " ms");
      case Exit.OutOfMemory() ->
          errors.record(
              sandbox,
              OPERATION,
              ErrorCode.RESOURCE_LIMIT,
              "a command was killed because the sandbox reached its memory limit");
      case Exit.Lost(String why) ->
          errors.record(
              sandbox,
              OPERATION,
              ErrorCode.OUTCOME_UNKNOWN,
              "the result of a command was lost: " + why);
    }
  }

  /** Leaves an execution to {@link #sweep}, unless its end was observed. */
  void detached(SandboxId sandbox, ExecutionId execution) {
    open.computeIfPresent(
        new Key(sandbox, execution), (any, known) -> new OpenExecution(known.provider(), true));
  }

  int size() {
    return open.size();
  }

  /**
   * Records the background executions that have ended. Lists the executions of their sandboxes,
   * which neither counts as activity nor resumes a sandbox. Forgets executions whose sandbox is
   * gone or no longer lists them.
   *
   * @param sandboxes the sandboxes that this process is attached to
   */
  public void sweep(List<Sandbox> sandboxes, Log log) {
    Map<SandboxId, List<Key>> detached =
        open.entrySet().stream()
            .filter(one -> one.getValue().detached())
            .map(Map.Entry::getKey)
            .collect(Collectors.groupingBy(Key::sandbox));
    if (detached.isEmpty()) {
      return;
    }
    Map<SandboxId, Sandbox> attached = new HashMap<>();
    sandboxes.forEach(one -> attached.put(one.id(), one));
    detached.forEach(
        (id, keys) -> {
          Sandbox sandbox = attached.get(id);
          if (sandbox == null) {
            keys.forEach(open::remove);
          } else {
            sweep(sandbox, keys, log);
          }
        });
  }

  private void sweep(Sandbox sandbox, List<Key> keys, Log log) {
    try {
      if (sandbox.state() != SandboxState.RUNNING) {
        return; // nothing ends in a suspended sandbox, and listing would resume it
      }
      Map<ExecutionId, ExecutionInfo> listed =
          sandbox.as(Attaching.class).map(Attaching::executions).orElse(List.of()).stream()
              .collect(Collectors.toMap(ExecutionInfo::id, Function.identity(), (a, b) -> b));
      for (Key key : keys) {
        ExecutionInfo info = listed.get(key.execution());
        if (info == null) {
          open.remove(key);
        } else if (info.exit().isPresent()) {
          Duration time =
              Duration.between(info.startedAt(), info.endedAt().orElse(info.startedAt()));
          ended(key.sandbox(), key.execution(), info.exit().get(), time);
        }
      }
    } catch (SandboxException e) {
      // The sandbox does not respond; the next sweep retries.
    } catch (RuntimeException e) {
      keys.forEach(open::remove);
      log.warning("executions of sandbox " + sandbox.id() + " could not be recorded: " + e);
    }
  }
}
