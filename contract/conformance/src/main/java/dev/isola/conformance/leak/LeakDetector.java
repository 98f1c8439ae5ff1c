package dev.isola.conformance.leak;

import dev.isola.spi.InstanceId;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Finds leaked resources of one installation: those that carry its instance id or lie in its data
 * folder. The descriptor counts cover the whole JVM.
 */
public final class LeakDetector {
  private static final Duration TIMEOUT = Duration.ofSeconds(3);
  private static final Duration LOOK_AGAIN = Duration.ofMillis(20);

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
    long until = System.nanoTime() + TIMEOUT.toNanos();
    List<String> leaked = ResourceScan.difference(before, scan());
    while (!leaked.isEmpty()
        && System.nanoTime() - until < 0
        && !Thread.currentThread().isInterrupted()) {
      LockSupport.parkNanos(LOOK_AGAIN.toNanos());
      leaked = ResourceScan.difference(before, scan());
    }
    return leaked;
  }
}
