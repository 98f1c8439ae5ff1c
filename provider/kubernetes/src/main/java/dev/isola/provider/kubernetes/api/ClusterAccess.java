package dev.isola.provider.kubernetes.api;

import dev.isola.spi.Secret;
import dev.isola.spi.error.SandboxException;
import java.net.URI;
import java.util.Optional;
import javax.net.ssl.SSLContext;

/**
 * How to reach a cluster.
 *
 * @param server the address of the API server, without a slash at the end
 * @param tls the authorities to trust, and the client certificate if there is one
 * @param token the bearer token
 * @param namespace the namespace that the configuration names
 */
public record ClusterAccess(
    URI server, SSLContext tls, TokenSource token, Optional<String> namespace) {

  /** Returns the current token; the tokens of service accounts are replaced every hour. */
  @FunctionalInterface
  public interface TokenSource {
    TokenSource NONE = Optional::empty;

    /**
     * Returns the token; empty if the client authenticates in another way.
     *
     * @throws SandboxException if it cannot be read
     */
    Optional<Secret> current();
  }
}
