package dev.isola.server.api;

import dev.isola.spi.SandboxId;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
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
    List<Execution> detached = new ArrayList<>();
    lock.lock();
    try {
      Optional.ofNullable(held.remove(key)).ifPresent(detached::add);
      if (held.size() >= MAX_HELD) {
        detached.add(held.pollFirstEntry().getValue());
      }
      held.put(key, execution);
    } finally {
      lock.unlock();
    }
    // An agent that does not answer must not delay other clients.
    detached.forEach(one -> Thread.ofVirtual().name("isola-detach").start(one::close));
    Thread.ofVirtual().name("isola-hold").start(() -> detachLater(key, execution));
  }

  private void detachLater(Key key, Execution execution) {
    try {
      Thread.sleep(HOLD);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    boolean mine;
    lock.lock();
    try {
      mine = held.remove(key, execution);
    } finally {
      lock.unlock();
    }
    if (mine) {
      execution.close();
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
