package dev.isola.server.api;

import dev.isola.spi.SandboxId;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionId;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Stays attached to a new execution until its client reads the output, which takes another request.
 * Otherwise a command that writes fast could overwrite the beginning of its output before that
 * request arrives. While it is attached, a command whose output fills the buffers blocks; therefore
 * it detaches after {@link #HOLD}, and the command continues without a reader.
 */
final class StartedExecutions {
  private static final Duration HOLD = Duration.ofSeconds(5);

  /** Each may buffer 1 MiB of output. The oldest is detached for a further one. */
  private static final int MAX_HELD = 64;

  private record Key(SandboxId sandbox, ExecutionId execution) {}

  private final LinkedHashMap<Key, Execution> held = new LinkedHashMap<>();
  private final ReentrantLock lock = new ReentrantLock();

  /** Holds an execution that was just started. */
  void hold(SandboxId sandbox, Execution execution) {
    Key key = new Key(sandbox, execution.id());
    lock.lock();
    try {
      Optional.ofNullable(held.remove(key)).ifPresent(Execution::close);
      if (held.size() >= MAX_HELD) {
        held.pollFirstEntry().getValue().close();
      }
      held.put(key, execution);
    } finally {
      lock.unlock();
    }
    Thread.ofVirtual().name("isola-hold").start(() -> detachLater(key, execution));
  }

  private void detachLater(Key key, Execution execution) {
    try {
      Thread.sleep(HOLD);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    lock.lock();
    try {
      if (held.remove(key, execution)) {
        execution.close();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Returns the execution, attached at offset 0 with nothing read; empty if it is not held. */
  Optional<Execution> take(SandboxId sandbox, ExecutionId execution) {
    lock.lock();
    try {
      return Optional.ofNullable(held.remove(new Key(sandbox, execution)));
    } finally {
      lock.unlock();
    }
  }
}
