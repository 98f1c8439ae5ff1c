package dev.isola.engine;

import dev.isola.engine.api.Log;
import dev.isola.engine.api.health.HealthMonitor;
import dev.isola.engine.api.registry.ProviderRegistry;
import dev.isola.engine.config.Config;
import dev.isola.engine.peer.Ownership;
import dev.isola.store.Ledger;
import java.time.Duration;
import java.time.InstantSource;

/**
 * What an engine is opened with.
 *
 * @param ownership the sandboxes that this server may change
 */
record EngineContext(
    Config config,
    Ledger ledger,
    ProviderRegistry registry,
    HealthMonitor health,
    Ownership ownership,
    InstantSource clock,
    Log log) {

  /** Returns a task that one of several servers carries out for all. */
  Runnable onOneServer(String name, Duration interval, Runnable task) {
    return () -> {
      if (ownership.claim(name, interval)) {
        task.run();
      }
    };
  }
}
