package dev.isola.link.local;

import dev.isola.link.AgentSandbox;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** Ends all processes of a sandbox and verifies that none is left. */
final class SandboxTerminator {
  private static final Duration CHECK_INTERVAL = Duration.ofMillis(100);

  private final SandboxRecord record;
  private final AgentSandbox sandbox;

  SandboxTerminator(SandboxRecord record, AgentSandbox sandbox) {
    this.record = record;
    this.sandbox = sandbox;
  }

  /**
   * Shuts the agent down, and kills it when it has not ended after half of the timeout.
   *
   * @throws dev.isola.spi.error.DeadlineExceeded when a process is left after the timeout
   */
  void terminate(DestroyOptions options) {
    long start = System.nanoTime();
    List<AgentProcess> processes = record.processes();
    if (!processes.isEmpty()) {
      try {
        sandbox.shutdown();
        awaitEnd(processes, start + options.timeout().toNanos() / 2);
      } catch (SandboxException silent) {
        // It does not answer; killing it needs no answer.
      }
      processes.forEach(AgentProcess::kill);
    }
    sandbox.markDestroyed("it was destroyed");
    sandbox.close();
    awaitNoneLeft(start + options.timeout().toNanos());
  }

  /** Waits for a sandbox that is stopping, and kills its processes in the same way. */
  void awaitStop(DestroyOptions options) {
    long start = System.nanoTime();
    List<AgentProcess> processes = record.processes();
    awaitEnd(processes, start + options.timeout().toNanos() / 2);
    processes.forEach(AgentProcess::kill);
    awaitNoneLeft(start + options.timeout().toNanos());
  }

  private void awaitNoneLeft(long deadline) {
    for (List<AgentProcess> left = record.processes(); !left.isEmpty(); left = record.processes()) {
      if (System.nanoTime() - deadline >= 0) {
        throw Fault.of(
                ErrorCode.DEADLINE_EXCEEDED,
                "processes of sandbox " + record.id() + " are still running: " + left,
                "destroy the sandbox again, or kill the processes")
            .sandbox(record.id())
            .exception();
      }
      awaitEnd(left, System.nanoTime() + CHECK_INTERVAL.toNanos());
    }
  }

  private static void awaitEnd(List<AgentProcess> processes, long deadline) {
    while (processes.stream().anyMatch(AgentProcess::isAlive) && System.nanoTime() - deadline < 0) {
      LockSupport.parkNanos(500_000);
    }
  }
}
