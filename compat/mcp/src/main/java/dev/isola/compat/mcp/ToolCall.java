package dev.isola.compat.mcp;

import dev.isola.server.auth.ApiKey;
import dev.isola.server.route.Exchange;
import java.util.Map;
import java.util.Optional;

/**
 * A call of a tool with validated arguments.
 *
 * @param defaultSandbox the name of the sandbox if the arguments name none
 * @param waiting keeps the connection in use while the call waits
 */
record ToolCall(
    Exchange exchange,
    Map<String, Object> arguments,
    Optional<String> defaultSandbox,
    CallWait waiting) {

  Optional<ApiKey> key() {
    return exchange.key();
  }

  Optional<String> text(String name) {
    return Optional.ofNullable(arguments.get(name) instanceof String text ? text : null);
  }

  String requiredText(String name) {
    return text(name).orElseThrow(() -> new IllegalStateException(name + " is not required"));
  }

  Optional<Long> number(String name) {
    return Optional.ofNullable(
        arguments.get(name) instanceof Number number ? number.longValue() : null);
  }

  boolean flag(String name) {
    return Boolean.TRUE.equals(arguments.get(name));
  }
}
