package dev.isola.conformance.leak;

import dev.isola.conformance.condition.Condition;
import dev.isola.spi.InstanceId;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Finds leaked resources of one installation: those that carry its instance id or lie in its data
 * folder. The descriptor counts cover the whole JVM.
 */
public final class LeakDetector {
  private static final Duration TIMEOUT = Duration.ofSeconds(3);

  private final ScanScope scope;

  /**
   * Creates a detector.
   *
   * @param data the data folder of the installation, or of one of its providers
   */
  public LeakDetector(InstanceId instance, Path data) {
    this.scope = new ScanScope.OneInstallation(instance, data.toAbsolutePath().normalize());
  }

  public ResourceScan scan() {
    return ResourceScan.scan(scope);
  }

  /**
   * Returns descriptions of the resources that exist now and did not exist at {@code before}. Scans
   * repeatedly for up to three seconds, because resources may still be being released.
   */
  public List<String> leakedSince(ResourceScan before) {
    AtomicReference<List<String>> leaked = new AtomicReference<>(List.of());
    boolean _ =
        Condition.holdsWithin(
            TIMEOUT,
            () -> {
              leaked.set(ResourceScan.difference(before, scan()));
              return leaked.get().isEmpty();
            });
    return leaked.get();
  }
}
