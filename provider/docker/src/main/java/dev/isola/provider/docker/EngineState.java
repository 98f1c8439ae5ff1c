package dev.isola.provider.docker;

import dev.isola.host.launch.HostProgram;
import dev.isola.host.program.PackageOrigin;
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

  private record PingResult(long at, @Nullable SandboxException failure) {
    boolean within(long nanos) {
      return System.nanoTime() - at < nanos;
    }
  }

  private record CachedInfo(long at, EngineInfo facts) {}

  private final EngineApi engine;
  private final ReentrantLock asking = new ReentrantLock();
  private volatile @Nullable PingResult seen;
  private volatile @Nullable CachedInfo said;

  EngineState(EngineApi engine) {
    this.engine = engine;
  }

  /**
   * Returns what it said when it last answered; asks when it never did.
   *
   * @throws SandboxException when it does not answer
   */
  EngineInfo lastInfo() {
    CachedInfo known = said;
    return known == null ? currentInfo() : known.facts();
  }

  /**
   * Returns what it is, if it answers now, give or take two seconds.
   *
   * @throws SandboxException when it does not answer
   */
  EngineInfo currentInfo() {
    asking.lock();
    try {
      PingResult last = seen;
      if (last == null || !last.within(FRESH)) {
        boolean away = last != null && last.failure() != null;
        last = ping(away);
        seen = last;
      }
      if (last.failure() != null) {
        throw last.failure();
      }
      CachedInfo known = said;
      if (known == null) {
        throw new IllegalStateException("it answers, and nothing is known of it");
      }
      return known.facts();
    } finally {
      asking.unlock();
    }
  }

  private PingResult ping(boolean away) {
    try {
      CachedInfo known = said;
      if (away || known == null || System.nanoTime() - known.at() > KNOWN) {
        said =
            new CachedInfo(
                System.nanoTime(), EngineInfo.of(engine.version(), engine.info(), packaged()));
      } else {
        engine.ping();
      }
      return new PingResult(System.nanoTime(), null);
    } catch (SandboxException e) {
      return new PingResult(System.nanoTime(), e);
    }
  }

  private boolean packaged() {
    return engine.http().address().local()
        && HostProgram.find("podman")
            .filter(found -> PackageOrigin.isFromDistribution(found.path()))
            .isPresent();
  }
}
