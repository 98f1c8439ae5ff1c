package dev.isola.engine.crash;

import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.store.Ledger;
import java.util.function.UnaryOperator;

/** Bugs that the harness must find. */
enum PlantedBug {
  NOTHING,
  /** It is answered that a sandbox runs, and written a moment later. */
  ACKNOWLEDGED_EARLY,
  /** Keys are forgotten: a repeated order makes a second sandbox. */
  FORGOTTEN_KEYS,
  /** Nobody can see what there is, so the reconciler does nothing about it. */
  BLIND,
  /** What was destroyed is there again. */
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
