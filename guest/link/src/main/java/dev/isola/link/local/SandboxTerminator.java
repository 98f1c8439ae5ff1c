package dev.isola.link.local;

import dev.isola.codec.time.Deadline;
import dev.isola.link.AgentSandbox;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.time.Duration;
import java.util.List;

/** Ends all processes of a sandbox and verifies that none is left. */
final class SandboxTerminator {
  private static final Duration CHECK_INTERVAL = Duration.ofMillis(100);
  private static final Duration POLL_INTERVAL = Duration.ofNanos(500_000);

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
    Deadline half = Deadline.in(options.timeout().dividedBy(2));
    Deadline whole = Deadline.in(options.timeout());
    List<AgentProcess> processes = record.processes();
    if (!processes.isEmpty()) {
      try {
        sandbox.shutdown();
        awaitEnd(processes, half);
      } catch (SandboxException silent) {
        // It does not answer; killing it needs no answer.
      }
      processes.forEach(AgentProcess::kill);
    }
    sandbox.markDestroyed("it was destroyed");
    sandbox.close();
    awaitNoneLeft(whole);
  }

  /** Waits for a sandbox that is stopping, and kills its processes in the same way. */
  void awaitStop(DestroyOptions options) {
    Deadline whole = Deadline.in(options.timeout());
    List<AgentProcess> processes = record.processes();
    awaitEnd(processes, Deadline.in(options.timeout().dividedBy(2)));
    processes.forEach(AgentProcess::kill);
    awaitNoneLeft(whole);
  }

  private void awaitNoneLeft(Deadline deadline) {
    for (List<AgentProcess> left = record.processes(); !left.isEmpty(); left = record.processes()) {
      if (deadline.over()) {
        throw Fault.of(
                ErrorCode.DEADLINE_EXCEEDED,
                "processes of sandbox " + record.id() + " are still running: " + left,
                "destroy the sandbox again, or kill the processes")
            .sandbox(record.id())
            .exception();
      }
      awaitEnd(left, Deadline.in(CHECK_INTERVAL));
    }
  }

  private static void awaitEnd(List<AgentProcess> processes, Deadline deadline) {
    boolean _ =
        deadline.awaitUninterruptibly(
            POLL_INTERVAL, () -> processes.stream().noneMatch(AgentProcess::isAlive));
  }
}
