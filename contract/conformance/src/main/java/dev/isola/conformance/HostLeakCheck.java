package dev.isola.conformance;

import dev.isola.conformance.leak.LeakDetector;
import dev.isola.conformance.leak.ResourceScan;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Finds leaks on this host: a process, cgroup, mount, network namespace, socket, folder or
 * descriptor of the provider that exists after a check and did not exist before it.
 *
 * <p>Descriptors of this JVM that point into the data folder are tracked individually. All others
 * are only counted, because a provider may keep connections to its backend, and the JVM opens files
 * on first use. A fixed number more of each kind than at the start is therefore allowed. A provider
 * that leaks one descriptor per sandbox soon exceeds that number, and from then on every check that
 * leaks one fails.
 */
public final class HostLeakCheck implements LeakCheck {
  private static final int KEPT = 8;
  private static final List<String> KINDS =
      List.of("sockets", "pipes", "files", "other descriptors");

  private final LeakDetector detector;
  private final Map<String, Integer> allowed = new TreeMap<>();
  private ResourceScan before;

  private HostLeakCheck(LeakDetector detector, int extra) {
    this.detector = detector;
    this.before = detector.scan();
    for (String kind : KINDS) {
      allowed.put(kind, before.descriptors().getOrDefault(kind, 0) + extra);
    }
  }

  /** Returns a leak check for the instance and data folder of the provider. */
  public static HostLeakCheck of(ProviderUnderTest underTest) {
    return allowing(underTest, KEPT);
  }

  /** Returns a leak check that allows {@code descriptors} additional descriptors of each kind. */
  public static HostLeakCheck allowing(ProviderUnderTest underTest, int descriptors) {
    return new HostLeakCheck(new LeakDetector(underTest.instance(), underTest.data()), descriptors);
  }

  @Override
  public void before() {
    before = detector.scan().allowingDescriptors(allowed);
  }

  @Override
  public Optional<String> after() {
    List<String> leaked = detector.leakedSince(before);
    return leaked.isEmpty() ? Optional.empty() : Optional.of(String.join("; ", leaked));
  }
}
