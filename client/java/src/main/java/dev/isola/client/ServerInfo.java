package dev.isola.client;

import java.time.Instant;
import java.util.Map;

/**
 * One of the servers that share a ledger.
 *
 * @param name the name of the server, which its data folder has
 * @param url where the other servers reach it
 * @param version the version of Isola that it runs
 * @param alive whether its lease is valid
 * @param document all fields of the response
 */
public record ServerInfo(
    String name,
    String url,
    String version,
    Instant startedAt,
    boolean alive,
    Map<String, Object> document) {
  static ServerInfo read(JsonFields fields) {
    return new ServerInfo(
        fields.text("name"),
        fields.text("url"),
        fields.text("version"),
        fields.time("startedAt"),
        fields.flag("alive"),
        fields.all());
  }
}
