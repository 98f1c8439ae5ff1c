package dev.isola.provider.docker;

import dev.isola.codec.json.JsonValue;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * A container as listed by the engine.
 *
 * @param id the container id
 * @param name the name, without the leading slash
 * @param status the engine's status: created, running, paused, exited and so on
 * @param since the engine's human-readable status: how the container ended, and when
 */
record Container(
    String id,
    String name,
    String status,
    String since,
    Instant createdAt,
    Map<String, String> labels) {

  private static final int MAX_LENGTH = 100;

  static Container listed(JsonValue node) {
    Map<String, String> labels = new LinkedHashMap<>();
    node.at("Labels").members().forEach((name, value) -> labels.put(name, value.text()));
    return new Container(
        node.text("Id"),
        node.at("Names").items().stream()
            .map(JsonValue::text)
            .findFirst()
            .orElse("")
            .replaceFirst("^/", ""),
        node.text("State"),
        shortened(node.text("Status")),
        Instant.ofEpochSecond(node.number("Created")),
        labels);
  }

  private static String shortened(String text) {
    return text.length() > MAX_LENGTH ? text.substring(0, MAX_LENGTH) : text;
  }

  /** Returns the sandbox of the container; empty if its labels are not valid. */
  Optional<SandboxId> sandbox() {
    String value = labels.getOrDefault(ContainerLabels.SANDBOX, "");
    return SandboxId.isValid(value) ? Optional.of(new SandboxId(value)) : Optional.empty();
  }

  /**
   * Returns the state of the sandbox. An exited container is an ended sandbox, unless its name
   * marks it as stopped on purpose.
   */
  SandboxState state() {
    return switch (status) {
      case "running" -> SandboxState.RUNNING;
      case "paused" -> SandboxState.PAUSED;
      case "removing", "stopping" -> SandboxState.TERMINATING;
      default ->
          name.endsWith(ContainerLabels.STOPPED) && !status.equals("dead")
              ? SandboxState.STOPPED
              : SandboxState.ERROR;
    };
  }
}
