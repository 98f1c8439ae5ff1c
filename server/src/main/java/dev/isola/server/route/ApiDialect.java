package dev.isola.server.route;

import dev.isola.server.auth.ApiKey;
import dev.isola.server.auth.ApiKeys;
import dev.isola.spi.error.Fault;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** How the clients of an API show their credentials, and how errors are written to them. */
public interface ApiDialect {

  /**
   * An error as it is answered.
   *
   * @param body written as JSON
   */
  record ErrorResponse(int status, String mediaType, Map<String, Object> body) {}

  /**
   * Tells whether this is Isola's own API: parameters and fields that a route does not declare are
   * refused, and the OpenAPI document describes it.
   */
  boolean isNative();

  /**
   * Returns the credentials that a request shows, good or not.
   *
   * @param headers all values of a header
   */
  List<String> secrets(Function<String, List<String>> headers);

  /**
   * Finds the key that a credential is or stands for.
   *
   * @param sandbox the id in the path, if there is one
   * @throws dev.isola.spi.error.Forbidden for a token that is good for something else
   */
  Optional<ApiKey> key(String secret, Optional<String> sandbox, ApiKeys keys);

  /**
   * Writes an error.
   *
   * @param sandbox the id that the request is about, if it is about one
   */
  ErrorResponse error(Fault fault, String requestId, Optional<String> sandbox);
}
