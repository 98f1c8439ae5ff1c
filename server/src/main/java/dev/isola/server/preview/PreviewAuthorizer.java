package dev.isola.server.preview;

import dev.isola.server.access.HostAccessGuard;
import dev.isola.server.auth.ApiKey;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.Credentials;
import dev.isola.server.auth.PortCredentials;
import dev.isola.server.auth.PublicPorts;
import dev.isola.server.auth.SandboxToken;
import dev.isola.server.auth.SandboxTokens;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.ServerContext;
import dev.isola.server.forward.Header;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.SandboxException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Decides whether a request may access a port, and acquires a permit for it. Credentials with the
 * format of this server are checked and counted as for the API. Any other Authorization header
 * belongs to the site behind a public port; it is not compared with keys and is forwarded.
 */
record PreviewAuthorizer(
    ServerContext context,
    ApiKeys keys,
    HostAccessGuard hostAccess,
    PortCredentials extensionCredentials) {

  /** Returns the credentials of a request, except cookies, which only carry tokens. */
  private static List<String> secrets(List<Header> headers) {
    List<String> secrets = new ArrayList<>();
    Header.values(headers, "Authorization")
        .forEach(value -> secrets.add(Credentials.bearer(value)));
    secrets.removeIf(secret -> !hasServerForm(secret));
    secrets.addAll(Header.values(headers, Credentials.TOKEN_HEADER));
    return List.copyOf(secrets);
  }

  /** Returns whether a request carries a token of another API, valid or not. */
  private boolean presentsExtensionToken(List<Header> headers) {
    return extensionCredentials.tokens().stream()
        .anyMatch(one -> !Header.values(headers, one.header()).isEmpty());
  }

  /**
   * Authorizes a request, or throws.
   *
   * @return the key that authorized the request, if it does not have the usual format
   */
  Optional<String> authorize(PreviewExchange exchange, SandboxId sandbox, int port) {
    List<Header> headers = exchange.headers();
    PreviewThrottle throttle = exchange.throttle();
    List<String> secrets = secrets(headers);
    boolean presented = !secrets.isEmpty() || presentsExtensionToken(headers);
    boolean blocked = throttle.isBlocked();
    boolean token =
        isToken(HeaderFilter.cookieTokens(headers), sandbox, port)
            || (presented
                && (isToken(secrets, sandbox, port) || hasExtensionToken(headers, sandbox)));
    Optional<ApiKey> key = presented && !token ? key(secrets) : Optional.empty();
    if (presented && !token && key.isEmpty()) {
      throttle.recordAuthFailure();
    }
    boolean authenticated = token || key.filter(one -> one.scope().allows(Scope.USE)).isPresent();
    throttle.acquire(sandbox.value(), authenticated && !exchange.isCrossOrigin());
    if (isPublic(sandbox, port)) {
      return Optional.empty();
    }
    if (exchange.isCrossOrigin()) {
      throw Fault.of(
              ErrorCode.FORBIDDEN,
              "cross-origin requests to this preview are not allowed",
              "make the port public, or send the request from its own origin")
          .sandbox(sandbox)
          .exception();
    }
    if (authenticated) {
      if (key.isPresent()) {
        hostAccess.check(key, sandbox);
      }
      return Optional.empty();
    }
    if (presented && key.isEmpty() && blocked) {
      throttle.checkNotBlocked();
    }
    return key.isPresent() ? forbid(key.get()) : Optional.of(otherKey(headers, throttle, sandbox));
  }

  private Optional<String> forbid(ApiKey key) {
    throw Fault.of(
            ErrorCode.FORBIDDEN,
            "the key " + key.name() + " does not have scope use",
            "use a key with scope use")
        .exception();
  }

  /** Checks a key from the environment, which may have any format. Only done for private ports. */
  private String otherKey(List<Header> headers, PreviewThrottle throttle, SandboxId sandbox) {
    List<String> bearers =
        Header.values(headers, "Authorization").stream()
            .map(Credentials::bearer)
            .filter(secret -> !secret.isEmpty() && !hasServerForm(secret))
            .toList();
    if (!bearers.isEmpty()) {
      Optional<ApiKey> key = key(bearers);
      if (key.isPresent() && bearers.size() == 1) {
        if (!key.get().scope().allows(Scope.USE)) {
          forbid(key.get());
        }
        hostAccess.check(key, sandbox);
        return bearers.getFirst();
      }
      throttle.refuse();
    }
    throw unauthenticated(
        "the preview is private",
        "use a preview link, a token in " + Credentials.TOKEN_HEADER + ", or an API key");
  }

  private Optional<ApiKey> key(List<String> secrets) {
    return secrets.stream().flatMap(one -> keys.find(one).stream()).findFirst();
  }

  private boolean isToken(List<String> secrets, SandboxId sandbox, int port) {
    return secrets.stream()
        .flatMap(one -> keys.tokens().find(one).stream())
        .anyMatch((SandboxToken one) -> one.opens(sandbox, port));
  }

  /** Returns whether a request carries a valid token of another API. */
  private boolean hasExtensionToken(List<Header> headers, SandboxId sandbox) {
    return extensionCredentials
        .find(name -> Header.values(headers, name), sandbox, keys.tokens())
        .isPresent();
  }

  /**
   * Returns whether a port is public. A missing sandbox is reported as private, so that a client
   * without a key cannot tell whether it exists.
   */
  private boolean isPublic(SandboxId sandbox, int port) {
    if (keys.publicPorts().contains(sandbox, port)) {
      return true;
    }
    // On the host's network, ports belong to the host: an administrator publishes each one
    // explicitly.
    if (hostAccess.hostAccess(sandbox).network()) {
      return false;
    }
    try {
      return context.sandboxes().view(sandbox).labels().containsKey(PublicPorts.ALL_PORTS_LABEL);
    } catch (NotFound e) {
      return false;
    }
  }

  static SandboxException unauthenticated(String what, String remedy) {
    return Fault.of(ErrorCode.UNAUTHENTICATED, what, remedy).exception();
  }

  private static boolean hasServerForm(String secret) {
    return secret.startsWith(SandboxTokens.PREFIX) || ApiKeys.hasKeyForm(secret);
  }

  /**
   * Returns whether a header carries a credential of this server, valid or not, which must not
   * reach a sandbox. Determined by its format, because otherwise a site could find out which keys
   * are valid.
   *
   * @param presented the credential that authorized the request
   */
  boolean isServerCredential(Header header, Optional<String> presented) {
    if (extensionCredentials.tokens().stream().anyMatch(one -> header.is(one.header()))) {
      return true;
    }
    Optional<String> secret =
        header.is("Authorization")
            ? Optional.of(Credentials.bearer(header.value()))
            : extensionCredentials.keyHeaders().stream().anyMatch(header::is)
                ? Optional.of(header.value().strip())
                : Optional.empty();
    return secret
        .filter(one -> hasServerForm(one) || presented.filter(one::equals).isPresent())
        .isPresent();
  }
}
