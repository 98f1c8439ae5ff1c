package dev.isola.engine.crash;

import dev.isola.conformance.TemporaryFolder;
import dev.isola.provider.bubblewrap.BubblewrapProviderFactory;
import dev.isola.spi.Health;
import dev.isola.spi.InstanceId;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import java.time.InstantSource;

/** Determines whether bubblewrap works on this machine, and if not, why. */
final class BubblewrapAvailability {
  private BubblewrapAvailability() {}

  static Health health() {
    try (TemporaryFolder scratch = TemporaryFolder.create("isola-bwrap-");
        Provider provider =
            new BubblewrapProviderFactory()
                .create(
                    ProviderConfig.EMPTY,
                    new ProviderContext(
                        new InstanceId("healthprobe"), scratch.path(), InstantSource.system()))) {
      return provider.health();
    }
  }

  static boolean healthy() {
    return health().healthy();
  }
}
