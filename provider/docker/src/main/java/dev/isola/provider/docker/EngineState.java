package dev.isola.provider.docker;

import dev.isola.host.launch.HostProgram;
import dev.isola.host.program.Origin;
import dev.isola.spi.error.SandboxException;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What is known of the engine. Whether it answers is asked every other second at most; what it is,
 * which takes Podman seconds to say, only now and then and after it was away.
 */
final class EngineState {
  private static final long FRESH = Duration.ofSeconds(2).toNanos();
  private static final long KNOWN = Duration.ofMinutes(5).toNanos();

  private record Seen(long at, @Nullable SandboxException failure) {
    boolean within(long nanos) {
      return System.nanoTime() - at < nanos;
    }
  }

  private record Said(long at, Facts facts) {}

  private final Engine engine;
  private final ReentrantLock asking = new ReentrantLock();
  private volatile @Nullable Seen seen;
  private volatile @Nullable Said said;

  EngineState(Engine engine) {
    this.engine = engine;
  }

  /**
   * Returns what it said when it last answered; asks when it never did.
   *
   * @throws SandboxException when it does not answer
   */
  Facts facts() {
    Said known = said;
    return known == null ? now() : known.facts();
  }

  /**
   * Returns what it is, if it answers now, give or take two seconds.
   *
   * @throws SandboxException when it does not answer
   */
  Facts now() {
    asking.lock();
    try {
      Seen last = seen;
      if (last == null || !last.within(FRESH)) {
        boolean away = last != null && last.failure() != null;
        last = look(away);
        seen = last;
      }
      if (last.failure() != null) {
        throw last.failure();
      }
      Said known = said;
      if (known == null) {
        throw new IllegalStateException("it answers, and nothing is known of it");
      }
      return known.facts();
    } finally {
      asking.unlock();
    }
  }

  private Seen look(boolean away) {
    try {
      Said known = said;
      if (away || known == null || System.nanoTime() - known.at() > KNOWN) {
        said = new Said(System.nanoTime(), Facts.of(engine.version(), engine.info(), packaged()));
      } else {
        engine.ping();
      }
      return new Seen(System.nanoTime(), null);
    } catch (SandboxException e) {
      return new Seen(System.nanoTime(), e);
    }
  }

  private boolean packaged() {
    return engine.http().address().local()
        && HostProgram.find("podman").filter(found -> Origin.distributed(found.path())).isPresent();
  }
}
