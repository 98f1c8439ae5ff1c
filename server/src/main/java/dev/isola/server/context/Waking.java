package dev.isola.server.context;

import dev.isola.engine.api.SandboxView;
import dev.isola.engine.lifecycle.SpecText;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

/** Finds sandboxes for traffic, which wakes those that were made to be woken by it. */
public final class Waking {
  private final Serving serving;
  private final List<ReentrantLock> waking = Stream.generate(ReentrantLock::new).limit(32).toList();

  public Waking(Serving serving) {
    this.serving = serving;
  }

  /**
   * Returns a sandbox that runs.
   *
   * @throws dev.isola.spi.error.Conflict when it sleeps, and traffic does not wake it
   */
  public Sandbox sandbox(SandboxId id) {
    Sandbox sandbox = serving.engine().sandbox(id);
    if (!isAsleep(sandbox.state())) {
      return sandbox;
    }
    SandboxView entry = serving.engine().entry(id);
    if (isAsleep(entry.state())) {
      wake(entry);
    }
    return serving.engine().sandbox(id);
  }

  private static boolean isAsleep(SandboxState state) {
    return state == SandboxState.PAUSED || state == SandboxState.STOPPED;
  }

  private void wake(SandboxView entry) {
    SandboxId id = entry.id();
    if (!SpecText.read(entry.spec(), id).lifecycle().autoResume()) {
      throw Fault.of(
              ErrorCode.ILLEGAL_STATE,
              "sandbox " + id + " is " + entry.state().name().toLowerCase(Locale.ROOT),
              "resume it, or make it with autoResume: true")
          .sandbox(id)
          .exception();
    }
    ReentrantLock lock = waking.get(Math.floorMod(id.hashCode(), waking.size()));
    lock.lock();
    try {
      if (isAsleep(serving.engine().entry(id).state())) {
        serving.engine().resume(id);
      }
    } finally {
      lock.unlock();
    }
  }
}
