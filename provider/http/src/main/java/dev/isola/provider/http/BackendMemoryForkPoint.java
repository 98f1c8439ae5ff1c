package dev.isola.provider.http;

import static dev.isola.provider.http.client.BackendAddress.encode;

import dev.isola.provider.http.client.BackendCall;
import dev.isola.spi.capability.MemoryForking.MemoryForkPoint;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.spec.SandboxSpec;
import java.io.InputStream;
import java.time.Duration;

/** A fork point of memory at the backend. */
record BackendMemoryForkPoint(BackendForkPoint point) implements MemoryForkPoint {
  private static final Duration BEGIN_TIMEOUT = Duration.ofMinutes(5);

  @Override
  public InputStream archive() {
    return point.backend().client().stream(
        BackendCall.tar(
            "archive of a fork point", "GET", "/v1/fork-points/" + encode(point.id()) + "/archive"),
        "",
        BEGIN_TIMEOUT);
  }

  @Override
  public Duration frozenFor() {
    return point.frozenFor();
  }

  @Override
  public Sandbox create(SandboxSpec spec) {
    return point.create(spec);
  }

  @Override
  public void close() {
    point.close();
  }
}
