package dev.isola.provider.docker;

import dev.isola.host.launch.HostProgram;
import dev.isola.host.program.PackageOrigin;
import dev.isola.spi.error.SandboxException;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Caches the state of the engine. Pings it at most every two seconds; reads its info, which takes
 * Podman seconds, only every few minutes and after an outage.
 */
final class EngineState {
  private static final long PING_INTERVAL = Duration.ofSeconds(2).toNanos();
  private static final long INFO_TTL = Duration.ofMinutes(5).toNanos();

  private record PingResult(long at, @Nullable SandboxException failure) {
    boolean within(long nanos) {
      return System.nanoTime() - at < nanos;
    }
  }

  private record CachedInfo(long at, EngineInfo engineInfo) {}

  private final EngineApi engine;
  private final ReentrantLock asking = new ReentrantLock();
  private volatile @Nullable PingResult seen;
  private volatile @Nullable CachedInfo said;

  EngineState(EngineApi engine) {
    this.engine = engine;
  }

  /**
   * Returns the last known info, reading it if there is none.
   *
   * @throws SandboxException if the engine is unreachable
   */
  EngineInfo lastInfo() {
    CachedInfo known = said;
    return known == null ? currentInfo() : known.engineInfo();
  }

  /**
   * Returns the info if the engine was reachable within the last two seconds.
   *
   * @throws SandboxException if the engine is unreachable
   */
  EngineInfo currentInfo() {
    asking.lock();
    try {
      PingResult last = seen;
      if (last == null || !last.within(PING_INTERVAL)) {
        boolean away = last != null && last.failure() != null;
        last = ping(away);
        seen = last;
      }
      if (last.failure() != null) {
        throw last.failure();
      }
      CachedInfo known = said;
      if (known == null) {
        throw new IllegalStateException("the engine responds, but its info was never read");
      }
      return known.engineInfo();
    } finally {
      asking.unlock();
    }
  }

  private PingResult ping(boolean away) {
    try {
      CachedInfo known = said;
      if (away || known == null || System.nanoTime() - known.at() > INFO_TTL) {
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
