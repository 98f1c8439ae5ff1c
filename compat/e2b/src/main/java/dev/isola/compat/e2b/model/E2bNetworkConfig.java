package dev.isola.compat.e2b.model;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.codec.json.Json;
import dev.isola.engine.api.SandboxView;
import dev.isola.server.auth.Confidential;
import dev.isola.server.auth.Scope;
import dev.isola.server.route.JsonBody;
import dev.isola.spi.spec.Egress;
import dev.isola.spi.spec.EgressAction;
import dev.isola.spi.spec.EgressRule;
import dev.isola.spi.spec.HttpRule;
import dev.isola.spi.spec.Network;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The network configuration of a sandbox as its client gave it, which {@code getInfo} returns. It
 * is stored in a label.
 *
 * @param fields the given fields of E2B's configuration; unknown ones are dropped
 */
public record E2bNetworkConfig(Map<String, Object> fields) {
  private static final String LABEL = E2bLabels.RESERVED_PREFIX + "e2b.network";
  private static final List<String> EGRESS = List.of("allowOut", "denyOut");
  private static final List<String> INGRESS = List.of("allowPublicTraffic", "maskRequestHost");

  /** The largest value that every database can index. */
  private static final int MAX_LENGTH = 2000;

  /**
   * Reads the configuration of a create request.
   *
   * @param filtered whether the spec has the egress rules, which then can change
   */
  public static E2bNetworkConfig of(E2bRequestBody network, boolean filtered) {
    Map<String, Object> given = new LinkedHashMap<>();
    List<String> names = new ArrayList<>(filtered ? List.of() : EGRESS);
    names.addAll(INGRESS);
    for (String name : names) {
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
    Network network = entry.request().spec().network();
    if (network.isFiltered()) { // its rules may have changed since
      fields.putAll(egress(network.egress()));
    }
    fields.putIfAbsent(
        "allowPublicTraffic", E2bLabels.of(entry, E2bLabels.PRIVATE_TRAFFIC).isEmpty());
    return new E2bNetworkConfig(fields);
  }

  private static Map<String, Object> egress(Egress egress) {
    boolean deniesAll = egress.fallback().filter(one -> one == EgressAction.DENY).isPresent();
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("denyOut", deniesAll ? List.of("0.0.0.0/0") : List.of());
    Set<String> allowed = new LinkedHashSet<>();
    Map<String, Object> rules = new LinkedHashMap<>();
    for (EgressRule rule : egress.rules()) {
      if (rule.http().isEmpty() && deniesAll && rule.action() == EgressAction.ALLOW) {
        allowed.add(rule.destination());
      }
      rule.http().stream()
          .filter(http -> !http.setHeaders().isEmpty())
          .forEach(
              http ->
                  rules.put(
                      rule.destination(),
                      List.of(Map.of("transform", Map.of("headers", headers(http))))));
    }
    fields.put("allowOut", List.copyOf(allowed));
    if (!rules.isEmpty()) {
      fields.put("rules", rules);
    }
    return fields;
  }

  /** Returns the headers that are set; their values may be secrets. */
  private static Map<String, Object> headers(HttpRule http) {
    Map<String, Object> headers = new LinkedHashMap<>();
    http.setHeaders()
        .forEach(
            (name, value) ->
                headers.put(
                    name,
                    Confidential.content(value.replace("${secret.", "${e2b.secrets."), Scope.USE)));
    return headers;
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
