package dev.isola.compat.mcp;

import dev.isola.codec.json.Json;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * A request of a client that a hosted server answers. The server sees an id of the host's, so that
 * the ids of clients cannot collide.
 *
 * @param id the id that the server sees
 * @param progressToken the client's token
 * @param result completes a result for the client's version of the protocol
 */
record HostedCall(
    long id,
    Object clientId,
    HostedClient client,
    Optional<Object> progressToken,
    UnaryOperator<Map<String, Object>> result,
    ClientQueue queue) {

  /** Answers with what the server answered. */
  void answer(Map<String, Object> response) {
    Map<String, Object> own = new LinkedHashMap<>();
    own.put("jsonrpc", "2.0");
    own.put("id", clientId);
    if (response.get("error") instanceof Map<?, ?> error) {
      own.put("error", error);
    } else {
      own.put("result", result.apply(RpcMessage.object(response.get("result"))));
    }
    if (!queue.end(Json.bytes(own))) {
      fail(RpcError.HOSTED_SERVER, "the server holds too many large messages; try again");
    }
  }

  void fail(int code, String message) {
    boolean _ =
        queue.end(
            Json.bytes(
                Json.object(
                    "jsonrpc",
                    "2.0",
                    "id",
                    clientId,
                    "error",
                    Json.object("code", code, "message", message))));
  }
}
