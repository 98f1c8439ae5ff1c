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
 * What every sandbox of ours bears, as metadata: whose it is, and what another process has to know
 * of its spec.
 *
 * @param made when
 * @param folder where commands start
 * @param user who they run as; the template's own when empty
 * @param timeout of commands that have none
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

  /** Returns what a list is asked for: everything of an instance. */
  static String query(InstanceId instance) {
    return INSTANCE + "=" + instance.value();
  }

  static String query(InstanceId instance, SandboxId id) {
    return query(instance) + "&" + SANDBOX + "=" + id.value();
  }

  /** Reads the marks; empty when they are not ours, whatever the list was asked for. */
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
