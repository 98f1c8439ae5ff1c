package dev.isola.server;

import dev.isola.engine.Engine;
import dev.isola.engine.health.HealthMonitor;
import dev.isola.engine.registry.Registry;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** What routes work with. The port is open before it is there, so that a start is quick. */
public final class Serving {
  /** The engine and what it knows of providers. */
  public record Parts(Engine engine, Registry registry, HealthMonitor health) {}

  private final AtomicReference<@Nullable Parts> parts = new AtomicReference<>();

  public void ready(Parts open) {
    parts.set(open);
  }

  /** Takes nothing on any more. */
  public void end() {
    parts.set(null);
  }

  public Optional<Parts> current() {
    return Optional.ofNullable(parts.get());
  }

  /**
   * @throws dev.isola.spi.error.ProviderUnavailable while it is not open
   */
  public Parts parts() {
    return current()
        .orElseThrow(
            () ->
                Fault.of(
                        ErrorCode.PROVIDER_UNAVAILABLE,
                        "this Isola is starting or ending",
                        "try again in a moment; /readyz tells when")
                    .exception());
  }

  public Engine engine() {
    return parts().engine();
  }
}
