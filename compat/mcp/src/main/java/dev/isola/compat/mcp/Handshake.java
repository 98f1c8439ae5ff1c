package dev.isola.compat.mcp;

import dev.isola.codec.json.Json;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The answer of a hosted server to {@code initialize}, which the host gives to every client.
 *
 * @param version the version of the protocol that host and server speak
 * @param capabilities without those that the host does not pass on
 */
record Handshake(
    String version,
    Map<String, Object> capabilities,
    Map<String, Object> serverInfo,
    Optional<String> instructions) {

  /** Returns the request. Roots are not offered: the folders of clients are not in the sandbox. */
  static Map<String, Object> request(long id, String isolaVersion) {
    return Json.object(
        "jsonrpc",
        "2.0",
        "id",
        id,
        "method",
        "initialize",
        "params",
        Json.object(
            "protocolVersion",
            ProtocolVersion.HANDSHAKE.getFirst(),
            "capabilities",
            Json.object("sampling", Map.of(), "elicitation", Map.of()),
            "clientInfo",
            Json.object("name", "isola", "version", isolaVersion)));
  }

  /** Returns the message that ends the handshake. */
  static Map<String, Object> initialized() {
    return Json.object("jsonrpc", "2.0", "method", "notifications/initialized");
  }

  /** Reads a result; empty if it is not one of a version that the host speaks. */
  static Optional<Handshake> read(Map<String, Object> result) {
    Map<String, Object> serverInfo = RpcMessage.object(result.get("serverInfo"));
    if (!(result.get("protocolVersion") instanceof String version)
        || !ProtocolVersion.HANDSHAKE.contains(version)
        || serverInfo.isEmpty()) {
      return Optional.empty();
    }
    Map<String, Object> capabilities = RpcMessage.object(result.get("capabilities"));
    capabilities.keySet().removeIf(name -> !PASSED_ON.contains(name));
    return Optional.of(
        new Handshake(
            version,
            capabilities,
            serverInfo,
            Optional.ofNullable(result.get("instructions") instanceof String text ? text : null)));
  }

  /** The tasks of a server are visible to all of its clients. */
  private static final List<String> PASSED_ON =
      List.of("tools", "prompts", "resources", "completions", "logging");

  /** Returns the answer to a client of the era with sessions. */
  Map<String, Object> answer(Optional<String> requested) {
    Map<String, Object> answer =
        Json.object(
            "protocolVersion",
            agreed(requested),
            "capabilities",
            capabilities,
            "serverInfo",
            serverInfo);
    instructions.ifPresent(text -> answer.put("instructions", text));
    return answer;
  }

  /** A client gets the version that it requests if the server's is as new. */
  private String agreed(Optional<String> requested) {
    int own = ProtocolVersion.HANDSHAKE.indexOf(version);
    int wanted = ProtocolVersion.HANDSHAKE.indexOf(requested.orElse(""));
    return wanted >= own ? ProtocolVersion.HANDSHAKE.get(wanted) : version;
  }
}
