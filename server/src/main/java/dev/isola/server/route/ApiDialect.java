package dev.isola.server.route;

import dev.isola.server.auth.ApiKey;
import dev.isola.server.auth.ApiKeys;
import dev.isola.spi.error.Fault;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** How the clients of an API send credentials and how they receive errors. */
public interface ApiDialect {

  /**
   * An error response.
   *
   * @param body rendered as JSON
   */
  record ErrorResponse(int status, String mediaType, Map<String, Object> body) {}

  /**
   * Returns whether this is the native API. In the native API, undeclared parameters and fields are
   * rejected, and routes are part of the OpenAPI document.
   */
  boolean isNative();

  /**
   * Returns the credentials of a request, valid or not.
   *
   * @param headers returns all values of a header
   */
  List<String> secrets(Function<String, List<String>> headers);

  /**
   * Finds the key that a credential stands for.
   *
   * @param sandbox the sandbox id in the path, if any
   * @throws dev.isola.spi.error.Forbidden for a valid token that does not apply to this request
   */
  Optional<ApiKey> key(String secret, Optional<String> sandbox, ApiKeys keys);

  /**
   * Returns the key of a request without a credential; empty if the request needs one.
   *
   * @param headers returns all values of a header
   * @param sandbox the sandbox id in the path, if any
   */
  default Optional<ApiKey> anonymousKey(
      Function<String, List<String>> headers, Optional<String> sandbox) {
    return Optional.empty();
  }

  /**
   * Renders an error.
   *
   * @param sandbox the sandbox id of the request, if any
   */
  ErrorResponse error(Fault fault, String requestId, Optional<String> sandbox);
}
