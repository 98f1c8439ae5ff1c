package dev.isola.engine.crash;

import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.store.Ledger;
import java.util.function.UnaryOperator;

/** Bugs that the harness must detect. */
enum PlantedBug {
  NOTHING,
  /** A running sandbox is acknowledged shortly before it is recorded. */
  ACKNOWLEDGED_EARLY,
  /** Idempotency keys are forgotten: a repeated request creates a second sandbox. */
  FORGOTTEN_KEYS,
  /** Inventories fail, so the reconciler does nothing. */
  BLIND,
  /** A destroyed sandbox exists again. */
  RESURRECTED;

  Ledger ledger(Ledger real) {
    return switch (this) {
      case ACKNOWLEDGED_EARLY -> new BuggyLedger(real, new BuggyLedger.AcknowledgesBeforeCommit());
      case FORGOTTEN_KEYS -> new BuggyLedger(real, new BuggyLedger.ForgetsIdempotencyKeys());
      case NOTHING, BLIND, RESURRECTED -> real;
    };
  }

  ProviderFactory factory(ProviderFactory real) {
    return switch (this) {
      case BLIND -> wrapped(real, BuggyProvider.InventoryFails::new);
      case RESURRECTED -> wrapped(real, BuggyProvider.RecreatesDestroyed::new);
      case NOTHING, ACKNOWLEDGED_EARLY, FORGOTTEN_KEYS -> real;
    };
  }

  private static ProviderFactory wrapped(ProviderFactory real, UnaryOperator<Provider> wrapper) {
    return new ProviderFactory() {
      @Override
      public String name() {
        return real.name();
      }

      @Override
      public Provider create(ProviderConfig config, ProviderContext context) {
        return wrapper.apply(real.create(config, context));
      }
    };
  }
}
