package dev.isola.client;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The egress rules of a sandbox and its traffic.
 *
 * @param rules the rules that apply, with those of presets and domains, as in a spec
 * @param fallback allow or deny: what happens to names that no rule matches
 * @param connections open connections
 * @param recentConnections ended connections, latest first
 * @param recentDenials denied or failed connections, latest first
 * @param document complete JSON object of the server
 */
public record EgressReport(
    List<Map<String, Object>> rules,
    String fallback,
    long totalConnections,
    long totalDenials,
    long sentBytes,
    long receivedBytes,
    List<Connection> connections,
    List<Connection> recentConnections,
    List<Denial> recentDenials,
    Map<String, Object> document) {

  /**
   * A connection to another host.
   *
   * @param address address of the host; empty if it is not connected yet
   * @param rule what allowed it
   * @param closedAt empty while it is open
   */
  public record Connection(
      String host,
      long port,
      String address,
      String rule,
      long sentBytes,
      long receivedBytes,
      Instant openedAt,
      Optional<Instant> closedAt) {
    static Connection read(JsonFields fields) {
      return new Connection(
          fields.text("host"),
          fields.integer("port"),
          fields.text("address"),
          fields.text("rule"),
          fields.integer("sentBytes"),
          fields.integer("receivedBytes"),
          fields.time("openedAt"),
          fields.optionalTime("closedAt"));
    }
  }

  /**
   * A connection that was not established, or a request that was not passed on.
   *
   * @param denied false if it was allowed, but the host could not be reached
   * @param request method and path of a denied HTTP request
   * @param remedy the rule that would allow it
   */
  public record Denial(
      Instant at,
      boolean denied,
      String host,
      long port,
      Optional<String> request,
      String reason,
      Optional<String> remedy) {
    static Denial read(JsonFields fields) {
      return new Denial(
          fields.time("at"),
          fields.flag("denied"),
          fields.text("host"),
          fields.integer("port"),
          fields.optionalText("request"),
          fields.text("reason"),
          fields.optionalText("remedy"));
    }
  }

  static EgressReport read(JsonFields fields) {
    return new EgressReport(
        fields.list("rules").stream().map(JsonFields::all).toList(),
        fields.text("default"),
        fields.integer("totalConnections"),
        fields.integer("totalDenials"),
        fields.integer("sentBytes"),
        fields.integer("receivedBytes"),
        fields.list("connections").stream().map(Connection::read).toList(),
        fields.list("recentConnections").stream().map(Connection::read).toList(),
        fields.list("recentDenials").stream().map(Denial::read).toList(),
        fields.all());
  }
}
