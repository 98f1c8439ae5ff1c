package dev.isola.compat.mcp;

import dev.isola.codec.json.Json;
import dev.isola.codec.json.MalformedJson;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A message of JSON-RPC.
 *
 * @param id a string or a number; empty for a notification
 * @param method empty for a response
 * @param params without members that are null
 * @param body the whole message
 */
record RpcMessage(
    Optional<Object> id, Optional<String> method, Map<String, Object> params, Map<?, ?> body) {

  static RpcMessage parse(byte[] body) throws RpcError {
    Object value;
    try {
      value = Json.parse(body);
    } catch (MalformedJson e) {
      throw new RpcError(RpcError.PARSE_ERROR, "the body is not JSON: " + e.getMessage());
    }
    if (!(value instanceof Map<?, ?> message) || !"2.0".equals(message.get("jsonrpc"))) {
      throw new RpcError(
          RpcError.INVALID_REQUEST, "the body must be one JSON-RPC 2.0 message; no batches");
    }
    Object id = message.get("id");
    boolean validId = id instanceof String || id instanceof Integer || id instanceof Long;
    if (message.containsKey("id") && !validId) {
      throw new RpcError(RpcError.INVALID_REQUEST, "id must be a string or an integer");
    }
    Object method = message.get("method");
    boolean response = message.containsKey("result") || message.containsKey("error");
    if (!(method instanceof String) && !response) {
      throw new RpcError(RpcError.INVALID_REQUEST, "method is missing");
    }
    return new RpcMessage(
        Optional.ofNullable(id),
        Optional.ofNullable(method instanceof String text ? text : null),
        object(message.get("params")),
        message);
  }

  boolean isMethod(String name) {
    return method.equals(Optional.of(name));
  }

  /** Returns the metadata of the request. */
  Map<String, Object> meta() {
    return object(params.get("_meta"));
  }

  Optional<String> text(String param) {
    return Optional.ofNullable(params.get(param) instanceof String text ? text : null);
  }

  /** Returns a value as an object without null members; empty if it is none. */
  static Map<String, Object> object(@Nullable Object value) {
    Map<String, Object> object = new LinkedHashMap<>();
    if (value instanceof Map<?, ?> map) {
      map.forEach(
          (name, each) -> {
            if (each != null) {
              object.put(String.valueOf(name), each);
            }
          });
    }
    return object;
  }
}
