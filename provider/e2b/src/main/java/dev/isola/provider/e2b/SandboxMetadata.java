package dev.isola.provider.e2b;

import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.spec.SandboxSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The metadata of a sandbox at E2B: its instance and id, and the parts of its spec that other
 * processes of the instance need.
 *
 * @param createdAt when the sandbox was created
 * @param folder the default working folder of commands
 * @param user the default user of commands; the template's user if empty
 * @param timeout the default timeout of commands
 */
record SandboxMetadata(
    SandboxId id,
    Instant createdAt,
    String folder,
    Optional<String> user,
    Optional<Duration> timeout) {
  private static final String INSTANCE = "isola-instance";
  private static final String SANDBOX = "isola-sandbox";
  private static final String MADE = "isola-made";
  private static final String FOLDER = "isola-folder";
  private static final String USER = "isola-user";
  private static final String TIMEOUT = "isola-timeout-ms";

  static SandboxMetadata of(SandboxSpec spec, Instant now) {
    return new SandboxMetadata(
        spec.id(), now, spec.workingFolder(), spec.user(), spec.limits().timeout());
  }

  Map<String, String> metadata(InstanceId instance) {
    Map<String, String> all = new LinkedHashMap<>();
    all.put(INSTANCE, instance.value());
    all.put(SANDBOX, id.value());
    all.put(MADE, createdAt.toString());
    all.put(FOLDER, folder);
    user.ifPresent(name -> all.put(USER, name));
    timeout.ifPresent(time -> all.put(TIMEOUT, Long.toString(time.toMillis())));
    return all;
  }

  /** Returns the metadata query for all sandboxes of an instance. */
  static String query(InstanceId instance) {
    return INSTANCE + "=" + instance.value();
  }

  static String query(InstanceId instance, SandboxId id) {
    return query(instance) + "&" + SANDBOX + "=" + id.value();
  }

  /**
   * Parses metadata; empty if it belongs to another instance, which a service that ignores the
   * query may return.
   */
  static Optional<SandboxMetadata> read(Map<String, String> metadata, InstanceId instance) {
    String id = metadata.getOrDefault(SANDBOX, "");
    if (!instance.value().equals(metadata.get(INSTANCE)) || !SandboxId.isValid(id)) {
      return Optional.empty();
    }
    return Optional.of(
        new SandboxMetadata(
            new SandboxId(id),
            instant(metadata.getOrDefault(MADE, "")),
            metadata.getOrDefault(FOLDER, SandboxSpec.DEFAULT_MOUNT),
            Optional.ofNullable(metadata.get(USER)),
            Optional.ofNullable(metadata.get(TIMEOUT))
                .filter(text -> text.matches("[0-9]{1,15}"))
                .map(text -> Duration.ofMillis(Long.parseLong(text)))));
  }

  private static Instant instant(String text) {
    try {
      return Instant.parse(text);
    } catch (java.time.DateTimeException e) {
      return Instant.EPOCH;
    }
  }
}
