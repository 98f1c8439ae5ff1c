package dev.isola.provider.http;

import dev.isola.provider.http.client.BackendAddress;
import dev.isola.provider.http.client.BackendCall;
import dev.isola.provider.http.client.BackendCall.Effect;
import dev.isola.spi.capability.Forking;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.spec.SandboxSpec;
import java.time.Duration;
import java.util.function.BiFunction;

/** A fork point at the backend. */
record BackendForkPoint(
    Backend backend,
    String id,
    Duration frozenFor,
    BiFunction<SandboxSpec, String, Sandbox> creator)
    implements Forking.ForkPoint {
  @Override
  public Sandbox create(SandboxSpec spec) {
    return creator.apply(spec, id);
  }

  @Override
  public void close() {
    backend
        .client()
        .send(
            BackendCall.of(
                "removal of a fork point",
                "DELETE",
                "/v1/fork-points/" + BackendAddress.encode(id),
                Effect.IDEMPOTENT),
            backend.longTimeout());
  }
}
