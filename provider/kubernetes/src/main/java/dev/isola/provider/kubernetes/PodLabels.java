package dev.isola.provider.kubernetes;

import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.spec.SandboxSpec;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/** The labels and annotations from which any process of an instance can restore a sandbox. */
final class PodLabels {
  static final String INSTANCE = "dev.isola.instance";
  static final String SANDBOX = "dev.isola.sandbox";
  static final String PROVIDER = "dev.isola.provider";

  /** Set for a sandbox that ends with the process that created it. */
  static final String SHORT_LIVED = "dev.isola.short-lived";

  /** Annotations. */
  static final String TIMEOUT = "dev.isola.command-timeout-ms";

  static final String FILTERED = "dev.isola.filtered";
  static final String FOLDERS = "dev.isola.folders";

  private PodLabels() {}

  static String name(InstanceId instance, SandboxId id) {
    return "isola-" + instance + "-" + id;
  }

  static String selector(InstanceId instance, String provider) {
    return INSTANCE + "=" + instance + "," + PROVIDER + "=" + provider;
  }

  /** Returns the labels of every object of an instance. */
  static Map<String, String> ofInstance(InstanceId instance) {
    return Map.of("app.kubernetes.io/managed-by", "isola", INSTANCE, instance.value());
  }

  static Map<String, String> labels(InstanceId instance, String provider, SandboxSpec spec) {
    Map<String, String> labels = new LinkedHashMap<>(ofInstance(instance));
    labels.put(SANDBOX, spec.id().value());
    labels.put(PROVIDER, provider);
    if (spec.linger().filter(Duration::isZero).isPresent()) {
      labels.put(SHORT_LIVED, "true");
    }
    return labels;
  }

  static Map<String, String> annotations(SandboxSpec spec) {
    Map<String, String> annotations = new LinkedHashMap<>();
    spec.limits()
        .timeout()
        .ifPresent(limit -> annotations.put(TIMEOUT, Long.toString(limit.toMillis())));
    if (spec.network().isFiltered()) {
      annotations.put(FILTERED, "true");
    }
    annotations.put(FOLDERS, spec.workspaceMount());
    return annotations;
  }
}
