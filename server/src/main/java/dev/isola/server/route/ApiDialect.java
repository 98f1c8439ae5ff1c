package dev.isola.server.route;

import dev.isola.server.auth.ApiKey;
import dev.isola.server.auth.ApiKeys;
import dev.isola.spi.SandboxId;
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
   * Resolves what the path of a request names as the sandbox. The server calls it once for each
   * request, before it checks anything; the text is not used again.
   *
   * @throws dev.isola.spi.error.SandboxException when the text is not an id in this API
   */
  default SandboxId sandbox(String identifier) {
    return SandboxIds.of(identifier);
  }

  /**
   * Finds the key that a credential stands for.
   *
   * @param sandbox the sandbox of the request, if any
   * @throws dev.isola.spi.error.Forbidden for a valid token that does not apply to this request
   */
  Optional<ApiKey> key(String secret, Optional<SandboxId> sandbox, ApiKeys keys);

  /**
   * Returns the key of a request without a credential; empty if the request needs one.
   *
   * @param headers returns all values of a header
   * @param sandbox the sandbox of the request, if any
   */
  default Optional<ApiKey> anonymousKey(
      Function<String, List<String>> headers, Optional<SandboxId> sandbox) {
    return Optional.empty();
  }

  /**
   * Renders an error.
   *
   * @param sandbox the sandbox of the request, if any
   */
  ErrorResponse error(Fault fault, String requestId, Optional<SandboxId> sandbox);
}
