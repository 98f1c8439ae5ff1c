package dev.isola.server.context;

import dev.isola.engine.Engine;
import dev.isola.engine.health.HealthMonitor;
import dev.isola.engine.registry.Registry;
import dev.isola.server.limit.Turnstile;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** What routes work with. The port is open before it is there, so that a start is quick. */
public final class Serving {
  /** The engine and what it knows of providers. */
  public record Parts(Engine engine, Registry registry, HealthMonitor health) {}

  /** How long a request waits for a server that starts. */
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private static final String RETRY_SECONDS = "2";

  private final AtomicReference<@Nullable Parts> parts = new AtomicReference<>();
  private final CountDownLatch started = new CountDownLatch(1);
  private final Duration patience;

  public Serving() {
    this(PATIENCE);
  }

  public Serving(Duration patience) {
    this.patience = patience;
  }

  public void ready(Parts open) {
    parts.set(open);
    started.countDown();
  }

  /** Takes nothing on any more. */
  public void end() {
    parts.set(null);
    started.countDown();
  }

  public Optional<Parts> current() {
    return Optional.ofNullable(parts.get());
  }

  /**
   * Waits for a server that starts, a while.
   *
   * @throws dev.isola.spi.error.ProviderUnavailable when it takes longer, or the server ends
   */
  public Parts parts() {
    Optional<Parts> now = current();
    if (now.isPresent()) {
      return now.get();
    }
    try {
      boolean _ = started.await(patience.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the client left, or the server ends
    }
    return current().orElseThrow(Serving::unavailable);
  }

  /** The answer to a request that comes when nothing can be made. */
  public static SandboxException unavailable() {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "this Isola is starting or ending",
            "try again in a moment; /readyz tells when")
        .with(Turnstile.RETRY_AFTER, RETRY_SECONDS)
        .exception();
  }

  public Engine engine() {
    return parts().engine();
  }
}
