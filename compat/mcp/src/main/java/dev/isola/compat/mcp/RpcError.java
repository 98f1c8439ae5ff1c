package dev.isola.compat.mcp;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** A message that is not a valid request of the protocol. Failures of tools are results instead. */
final class RpcError extends Exception {
  static final int PARSE_ERROR = -32700;
  static final int INVALID_REQUEST = -32600;
  static final int METHOD_NOT_FOUND = -32601;
  static final int INVALID_PARAMS = -32602;
  static final int INTERNAL = -32603;

  /** The hosted server did not answer, or is not running. */
  static final int HOSTED_SERVER = -32000;

  static final int CANCELLED = -32800;
  static final int HEADER_MISMATCH = -32020;
  static final int UNSUPPORTED_VERSION = -32022;

  private static final long serialVersionUID = 1;

  private final int code;
  private final transient Optional<Object> data;

  RpcError(int code, String message) {
    this(code, message, Optional.empty());
  }

  RpcError(int code, String message, Optional<Object> data) {
    super(message);
    this.code = code;
    this.data = data;
  }

  int code() {
    return code;
  }

  /** Returns the status of the response: since 2026-07-28, errors have one of their own. */
  int status(boolean modern) {
    return status(code, modern);
  }

  /** Returns the status of a response with an error of this code. */
  static int status(int code, boolean modern) {
    if (code == PARSE_ERROR || code == UNSUPPORTED_VERSION || code == HEADER_MISMATCH) {
      return 400;
    }
    if (!modern) {
      return 200;
    }
    return switch (code) {
      case METHOD_NOT_FOUND -> 404;
      case INVALID_REQUEST, INVALID_PARAMS -> 400;
      default -> 200;
    };
  }

  Map<String, Object> json() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("code", code);
    json.put("message", String.valueOf(getMessage()));
    data.ifPresent(value -> json.put("data", value));
    return json;
  }
}
