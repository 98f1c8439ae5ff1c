package dev.isola.compat.e2b.model;

import dev.isola.engine.api.SandboxView;
import dev.isola.engine.api.volume.VolumeService;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Labels that hold the attributes of an E2B sandbox for which a spec has no field, next to the
 * labels of the client. The prefix {@code isola.} is reserved.
 */
public final class E2bLabels {
  public static final String RESERVED_PREFIX = "isola.";
  public static final String TEMPLATE = RESERVED_PREFIX + "e2b.template";
  public static final String ALIAS = RESERVED_PREFIX + "e2b.alias";
  public static final String INTERNET = RESERVED_PREFIX + "e2b.internet";
  public static final String PRIVATE_TRAFFIC = RESERVED_PREFIX + "e2b.private";

  /**
   * Marks a sandbox that needs no token. The value is its id, so that a fork, which inherits the
   * labels, is not marked.
   */
  public static final String INSECURE = RESERVED_PREFIX + "e2b.insecure";

  /** Snapshot tag that holds its name. */
  public static final String SNAPSHOT_NAME = "e2b.name";

  /** Snapshot tag that holds the template of its sandbox. */
  public static final String SNAPSHOT_TEMPLATE = "e2b.template";

  private E2bLabels() {}

  public static Optional<String> of(SandboxView entry, String mark) {
    return Optional.ofNullable(entry.labels().get(mark));
  }

  /**
   * Returns the template that a sandbox was created from, or else its image, or else {@code host}.
   */
  public static String template(SandboxView entry) {
    return of(entry, TEMPLATE).or(() -> entry.request().spec().image()).orElse("host");
  }

  /** Returns whether a sandbox is a helper through which the engine accesses a volume. */
  public static boolean isVolumeHelper(SandboxView entry) {
    return entry.labels().containsKey(VolumeService.HELPER_LABEL);
  }

  /** Returns the labels that the client set. */
  public static Map<String, String> metadata(SandboxView entry) {
    Map<String, String> clientLabels = new LinkedHashMap<>();
    entry
        .labels()
        .forEach(
            (name, value) -> {
              if (!name.startsWith(RESERVED_PREFIX)) {
                clientLabels.put(name, value);
              }
            });
    return clientLabels;
  }
}
