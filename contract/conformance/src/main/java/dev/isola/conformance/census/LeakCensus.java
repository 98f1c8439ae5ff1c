package dev.isola.conformance.census;

import dev.isola.spi.InstanceId;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * The census of one installation: what bears its instance id or lies in its data folder. Only the
 * counts of this JVM's descriptors are shared with whatever else runs in it.
 */
public final class LeakCensus {
  private static final Duration PATIENCE = Duration.ofSeconds(3);
  private static final Duration LOOK_AGAIN = Duration.ofMillis(20);

  private final Scope scope;

  /**
   * @param data the installation's folder, or one provider's in it
   */
  public LeakCensus(InstanceId instance, Path data) {
    this.scope = new Scope.Installation(instance, data.toAbsolutePath().normalize());
  }

  public Census take() {
    return Census.take(scope);
  }

  /**
   * Returns what is there now and was not at {@code before}, in words. What is just ending gets a
   * moment: it looks again until there is nothing, for three seconds at most.
   */
  public List<String> leakedSince(Census before) {
    long until = System.nanoTime() + PATIENCE.toNanos();
    List<String> leaked = Census.difference(before, take());
    while (!leaked.isEmpty()
        && System.nanoTime() - until < 0
        && !Thread.currentThread().isInterrupted()) {
      LockSupport.parkNanos(LOOK_AGAIN.toNanos());
      leaked = Census.difference(before, take());
    }
    return leaked;
  }
}
