package dev.isola.server.context;

import dev.isola.engine.api.SandboxView;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

/** Finds sandboxes for incoming traffic and resumes those with {@code autoResume}. */
public final class SandboxResolver {
  private final ServerContext context;
  private final List<ReentrantLock> locks = Stream.generate(ReentrantLock::new).limit(32).toList();

  public SandboxResolver(ServerContext context) {
    this.context = context;
  }

  /**
   * Returns a running sandbox.
   *
   * @throws dev.isola.spi.error.Conflict when it is suspended and not resumed by traffic
   */
  public Sandbox resolve(SandboxId id) {
    Sandbox sandbox = context.sandboxes().get(id);
    if (!isSuspended(sandbox.state())) {
      return sandbox;
    }
    SandboxView entry = context.sandboxes().view(id);
    if (isSuspended(entry.state())) {
      resume(entry);
    }
    return context.sandboxes().get(id);
  }

  private static boolean isSuspended(SandboxState state) {
    return state == SandboxState.PAUSED || state == SandboxState.STOPPED;
  }

  private void resume(SandboxView entry) {
    SandboxId id = entry.id();
    if (!entry.request().lifecycle().autoResume()) {
      throw Fault.of(
              ErrorCode.ILLEGAL_STATE,
              "sandbox " + id + " is " + entry.state().name().toLowerCase(Locale.ROOT),
              "resume the sandbox, or create it with autoResume: true")
          .sandbox(id)
          .exception();
    }
    ReentrantLock lock = locks.get(Math.floorMod(id.hashCode(), locks.size()));
    lock.lock();
    try {
      if (isSuspended(context.sandboxes().view(id).state())) {
        context.sandboxes().resume(id);
      }
    } finally {
      lock.unlock();
    }
  }
}
