package dev.isola.provider.http;

import dev.isola.provider.http.client.BackendCall;
import dev.isola.provider.http.client.BackendCall.Effect;
import dev.isola.provider.http.client.BackendDocument;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Forking;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Renewing;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.spec.SandboxSpec;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Consumer;

/**
 * The capabilities of a sandbox that are requests to its backend.
 *
 * @param fork creates a sandbox from a spec and the id of a fork point
 */
record RequestedCapabilities(
    Backend backend, BackendInfo info, BiFunction<SandboxSpec, String, Sandbox> fork) {
  private static final int DOCUMENT = 1 << 20;
  private static final String FILESYSTEM = "filesystem";

  /**
   * Returns those that the backend declares.
   *
   * @param state called with the state that a request leads to
   */
  Map<Class<? extends Capability>, Capability> of(SandboxId id, Consumer<SandboxState> state) {
    Map<Class<? extends Capability>, Capability> all = new HashMap<>();
    all.put(Pausing.class, new BackendPausing(id, state));
    all.put(Renewing.class, (Renewing) fromNow -> renew(id, fromNow));
    all.put(UsageReporting.class, (UsageReporting) () -> usage(id));
    all.put(Forking.class, (Forking) () -> createForkPoint(id));
    all.keySet().removeIf(type -> !info.capabilities().contains(Capability.idOf(type)));
    return all;
  }

  private final class BackendPausing implements Pausing {
    private final SandboxId id;
    private final Consumer<SandboxState> state;

    BackendPausing(SandboxId id, Consumer<SandboxState> state) {
      this.id = id;
      this.state = state;
    }

    @Override
    public Set<PauseKind> kinds() {
      return info.pauseKinds();
    }

    @Override
    public void pause(PauseKind kind) {
      // First, so that the silence of the sandbox does not count as its end.
      state.accept(kind == PauseKind.MEMORY ? SandboxState.PAUSED : SandboxState.STOPPED);
      boolean paused = false;
      try {
        backend.post(id, "pause", Map.of("kind", kind.name().toLowerCase(Locale.ROOT)));
        paused = true;
      } finally {
        if (!paused) {
          state.accept(SandboxState.RUNNING);
        }
      }
    }

    @Override
    public void resume() {
      backend.post(id, "resume", null);
      state.accept(SandboxState.RUNNING);
    }
  }

  private void renew(SandboxId id, Duration fromNow) {
    backend.post(id, "renew", Map.of("ttlMs", Math.max(1, fromNow.toMillis())));
  }

  private UsageReporting.Usage usage(SandboxId id) {
    BackendDocument json =
        backend
            .client()
            .document(BackendCall.get("usage", backend.path(id) + "/usage"), backend.timeout());
    return new UsageReporting.Usage(
        Duration.ofMillis(json.count("cpuMs")),
        json.count("memoryBytes"),
        json.count("memoryPeakBytes"),
        json.optionalCount("diskBytes"),
        json.optionalCount("receivedBytes"),
        json.optionalCount("sentBytes"),
        Math.clamp(json.count("processes"), 0, Integer.MAX_VALUE),
        Duration.ofMillis(json.count("uptimeMs")));
  }

  private Forking.ForkPoint createForkPoint(SandboxId id) {
    BackendDocument json =
        backend
            .client()
            .document(
                BackendCall.of("fork point", "POST", backend.path(id) + "/fork-points", Effect.ONCE)
                    .sending(Map.of("kind", FILESYSTEM))
                    .expecting(DOCUMENT, 201),
                backend.longTimeout());
    return new BackendForkPoint(
        backend, json.text("id"), Duration.ofMillis(json.count("frozenMs")), fork);
  }
}
