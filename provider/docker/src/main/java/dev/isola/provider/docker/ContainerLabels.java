package dev.isola.provider.docker;

import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.spec.SandboxSpec;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** The labels of a container, from which any process of its instance can restore its sandbox. */
final class ContainerLabels {
  static final String INSTANCE = "dev.isola.instance";
  static final String SANDBOX = "dev.isola.sandbox";
  static final String PROVIDER = "dev.isola.provider";
  static final String TIMEOUT = "dev.isola.command-timeout-ms";
  static final String SHORT_LIVED = "dev.isola.short-lived";

  /** Set if the network mode is filtered. */
  static final String FILTERED = "dev.isola.filtered";

  /** The boot record for the next boot, sealed because it contains the environment. */
  static final String BOOT = "dev.isola.boot";

  /**
   * Name suffix of a container that was stopped on purpose. Labels cannot change after creation;
   * the name can.
   */
  static final String STOPPED = ".stopped";

  private ContainerLabels() {}

  static String name(InstanceId instance, SandboxId id) {
    return "isola-" + instance + "-" + id;
  }

  static Map<String, String> of(
      InstanceId instance, String provider, SandboxSpec spec, String boot) {
    Map<String, String> labels = new LinkedHashMap<>();
    labels.put(INSTANCE, instance.value());
    labels.put(SANDBOX, spec.id().value());
    labels.put(PROVIDER, provider);
    spec.limits()
        .timeout()
        .ifPresent(limit -> labels.put(TIMEOUT, Long.toString(limit.toMillis())));
    if (spec.linger().filter(Duration::isZero).isPresent()) {
      labels.put(SHORT_LIVED, "true");
    }
    if (spec.network().isFiltered()) {
      labels.put(FILTERED, "true");
    }
    labels.put(BOOT, boot);
    return labels;
  }

  static Optional<Duration> timeout(Map<String, String> labels) {
    try {
      return Optional.ofNullable(labels.get(TIMEOUT)).map(Long::valueOf).map(Duration::ofMillis);
    } catch (NumberFormatException notOurs) {
      return Optional.empty();
    }
  }
}
