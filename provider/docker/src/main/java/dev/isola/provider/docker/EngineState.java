package dev.isola.provider.docker;

import dev.isola.host.launch.HostProgram;
import dev.isola.host.program.Origin;
import dev.isola.spi.error.SandboxException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What is known of the engine, asked again only after a while. */
final class EngineState {
  private static final long FRESH = Duration.ofSeconds(2).toNanos();

  private record Known(long at, @Nullable Facts facts, @Nullable SandboxException failure) {}

  private final Engine engine;
  private volatile @Nullable Known last;
  private volatile @Nullable Facts facts;

  EngineState(Engine engine) {
    this.engine = engine;
  }

  /**
   * Returns what it said when it last answered; asks when it never did.
   *
   * @throws SandboxException when it does not answer
   */
  Facts facts() {
    Facts known = facts;
    return known == null ? now() : known;
  }

  /**
   * Returns what it says now, give or take two seconds.
   *
   * @throws SandboxException when it does not answer
   */
  Facts now() {
    Known known = last;
    if (known == null || System.nanoTime() - known.at() > FRESH) {
      known = ask();
      last = known;
    }
    if (known.failure() != null) {
      throw known.failure();
    }
    Facts found = known.facts();
    if (found == null) {
      throw new IllegalStateException("neither an answer nor a failure");
    }
    facts = found;
    return found;
  }

  private boolean packaged() {
    return engine.http().address().local()
        && HostProgram.find("podman").filter(found -> Origin.distributed(found.path())).isPresent();
  }

  private Known ask() {
    try {
      return new Known(
          System.nanoTime(), Facts.of(engine.version(), engine.info(), packaged()), null);
    } catch (SandboxException e) {
      return new Known(System.nanoTime(), null, e);
    }
  }
}
