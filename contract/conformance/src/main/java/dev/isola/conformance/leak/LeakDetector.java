package dev.isola.conformance.leak;

import dev.isola.spi.InstanceId;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * The census of one installation: what bears its instance id or lies in its data folder. Only the
 * counts of this JVM's descriptors are shared with whatever else runs in it.
 */
public final class LeakDetector {
  private static final Duration PATIENCE = Duration.ofSeconds(3);
  private static final Duration LOOK_AGAIN = Duration.ofMillis(20);

  private final ScanScope scope;

  /**
   * @param data the installation's folder, or one provider's in it
   */
  public LeakDetector(InstanceId instance, Path data) {
    this.scope = new ScanScope.OneInstallation(instance, data.toAbsolutePath().normalize());
  }

  public ResourceScan scan() {
    return ResourceScan.scan(scope);
  }

  /**
   * Returns what is there now and was not at {@code before}, in words. What is just ending gets a
   * moment: it looks again until there is nothing, for three seconds at most.
   */
  public List<String> leakedSince(ResourceScan before) {
    long until = System.nanoTime() + PATIENCE.toNanos();
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
