package dev.isola.conformance;

import dev.isola.conformance.leak.LeakDetector;
import dev.isola.conformance.leak.ResourceScan;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Looks with the leak census: a process, cgroup, mount, network namespace, socket, folder or
 * descriptor of the provider's that is there after a check and was not before it is a leak.
 *
 * <p>Of this JVM's descriptors only those into the data folder are told apart; others are counted,
 * and a provider may keep some: connections to its backend, and what the JVM opens for itself at
 * first use. Up to a number of each kind more than at the first look are therefore no leak. A
 * provider that loses one with every sandbox soon passes that number, and from then on every check
 * that loses one is named.
 */
public final class HostLeakCheck implements LeakCheck {
  private static final int KEPT = 8;
  private static final List<String> KINDS =
      List.of("sockets", "pipes", "files", "other descriptors");

  private final LeakDetector census;
  private final Map<String, Integer> allowed = new TreeMap<>();
  private ResourceScan before;

  private HostLeakCheck(LeakDetector census, int kept) {
    this.census = census;
    this.before = census.scan();
    for (String kind : KINDS) {
      allowed.put(kind, before.descriptors().getOrDefault(kind, 0) + kept);
    }
  }

  /** Returns a watch over the provider's instance and data folder. */
  public static HostLeakCheck of(ProviderUnderTest underTest) {
    return allowing(underTest, KEPT);
  }

  /** Returns a watch that lets the provider keep {@code descriptors} of each kind. */
  public static HostLeakCheck allowing(ProviderUnderTest underTest, int descriptors) {
    return new HostLeakCheck(new LeakDetector(underTest.instance(), underTest.data()), descriptors);
  }

  @Override
  public void before() {
    before = census.scan().allowingDescriptors(allowed);
  }

  @Override
  public Optional<String> after() {
    List<String> leaked = census.leakedSince(before);
    return leaked.isEmpty() ? Optional.empty() : Optional.of(String.join("; ", leaked));
  }
}
