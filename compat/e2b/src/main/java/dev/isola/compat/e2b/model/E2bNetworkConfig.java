package dev.isola.compat.e2b.model;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.codec.json.Json;
import dev.isola.engine.api.SandboxView;
import dev.isola.server.route.JsonBody;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The network configuration of a sandbox as its client gave it, which {@code getInfo} returns. It
 * is stored in a label.
 *
 * @param fields the given fields of E2B's configuration; unknown ones are dropped
 */
public record E2bNetworkConfig(Map<String, Object> fields) {
  private static final String LABEL = E2bLabels.RESERVED_PREFIX + "e2b.network";
  private static final List<String> NAMES =
      List.of("allowOut", "denyOut", "allowPublicTraffic", "maskRequestHost");

  /** The largest value that every database can index. */
  private static final int MAX_LENGTH = 2000;

  /** Reads the configuration of a create request. */
  public static E2bNetworkConfig of(E2bRequestBody network) {
    Map<String, Object> given = new LinkedHashMap<>();
    for (String name : NAMES) {
      Object value = network.fields().get(name);
      if (value != null) {
        given.put(name, value);
      }
    }
    return new E2bNetworkConfig(given);
  }

  /** Reads the configuration of an existing sandbox. */
  public static E2bNetworkConfig of(SandboxView entry) {
    Map<String, Object> fields = new LinkedHashMap<>();
    E2bLabels.of(entry, LABEL)
        .ifPresent(
            text ->
                JsonBody.object(text.getBytes(UTF_8))
                    .forEach((name, value) -> fields.put(String.valueOf(name), value)));
    fields.putIfAbsent(
        "allowPublicTraffic", E2bLabels.of(entry, E2bLabels.PRIVATE_TRAFFIC).isEmpty());
    return new E2bNetworkConfig(fields);
  }

  /** Adds the label that holds the configuration; none if the client gave none. */
  public void addTo(Map<String, String> labels) {
    if (fields.isEmpty()) {
      return;
    }
    String text = new String(Json.bytes(fields), UTF_8);
    if (text.length() > MAX_LENGTH) {
      throw E2bRequestBody.invalidField(
          "network", "must have at most " + MAX_LENGTH + " characters as JSON");
    }
    labels.put(LABEL, text);
  }
}
