package dev.isola.server.context;

import dev.isola.engine.Engine;
import dev.isola.engine.api.health.HealthMonitor;
import dev.isola.engine.api.registry.ProviderRegistry;
import dev.isola.engine.api.sandbox.Sandboxes;
import dev.isola.server.limit.RateLimiter;
import dev.isola.server.peer.PeerServers;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Gives routes access to the engine. The port is opened before the engine has started, so that a
 * server starts quickly.
 */
public final class ServerContext {
  /**
   * The engine with its registry and health monitor.
   *
   * @param peers the other servers; empty if this server has its ledger to itself
   */
  public record Components(
      Engine engine, ProviderRegistry registry, HealthMonitor health, Optional<PeerServers> peers) {
    public Components(Engine engine, ProviderRegistry registry, HealthMonitor health) {
      this(engine, registry, health, engine.peers().map(PeerServers::new));
    }
  }

  /** How long a request waits for the engine to start. */
  private static final Duration START_TIMEOUT = Duration.ofSeconds(30);

  private static final String RETRY_SECONDS = "2";

  private final AtomicReference<@Nullable Components> parts = new AtomicReference<>();
  private final CountDownLatch started = new CountDownLatch(1);
  private final Duration timeout;

  public ServerContext() {
    this(START_TIMEOUT);
  }

  public ServerContext(Duration timeout) {
    this.timeout = timeout;
  }

  public void start(Components open) {
    parts.set(open);
    started.countDown();
  }

  /** Rejects requests from now on. */
  public void stop() {
    parts.set(null);
    started.countDown();
  }

  public Optional<Components> current() {
    return Optional.ofNullable(parts.get());
  }

  /**
   * Returns the components, waiting for the engine to start.
   *
   * @throws dev.isola.spi.error.ProviderUnavailable when the start takes too long or the server is
   *     shutting down
   */
  public Components components() {
    Optional<Components> now = current();
    if (now.isPresent()) {
      return now.get();
    }
    try {
      boolean _ = started.await(timeout.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the client disconnected, or the server is shutting down
    }
    return current().orElseThrow(ServerContext::unavailable);
  }

  /** Returns the error for a request while no engine is available. */
  public static SandboxException unavailable() {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "the server is starting or shutting down",
            "try again in a moment; /readyz reports readiness")
        .with(RateLimiter.RETRY_AFTER, RETRY_SECONDS)
        .exception();
  }

  public Engine engine() {
    return components().engine();
  }

  /** Returns the operations on sandboxes, which most routes need. */
  public Sandboxes sandboxes() {
    return engine().sandboxes();
  }
}
