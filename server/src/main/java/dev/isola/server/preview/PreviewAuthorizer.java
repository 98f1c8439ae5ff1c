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
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.SandboxException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Decides whether a request may reach a port, and takes a place for it. What is a credential of
 * this server by its form is checked and counted as everywhere else. Any other Authorization
 * belongs to the site behind a public port: it is not compared with keys, and passed on.
 */
record PreviewAuthorizer(
    ServerContext context,
    ApiKeys keys,
    HostAccessGuard hostAccess,
    PortCredentials extensionCredentials) {

  /** Returns what a request shows, apart from cookies, which are tokens only. */
  private static List<String> secrets(List<Header> headers) {
    List<String> secrets = new ArrayList<>();
    Header.values(headers, "Authorization")
        .forEach(value -> secrets.add(Credentials.bearer(value)));
    secrets.removeIf(secret -> !hasServerForm(secret));
    secrets.addAll(Header.values(headers, Credentials.TOKEN_HEADER));
    return List.copyOf(secrets);
  }

  /** Tells whether a request shows a token of another API, good or not. */
  private boolean presentsExtensionToken(List<Header> headers) {
    return extensionCredentials.tokens().stream()
        .anyMatch(one -> !Header.values(headers, one.header()).isEmpty());
  }

  /**
   * Lets a request in, or refuses it.
   *
   * @return the key by which it came in, if it showed one
   */
  Optional<String> authorize(PreviewExchange exchange, SandboxId sandbox, int port) {
    List<Header> headers = exchange.headers();
    PreviewThrottle access = exchange.throttle();
    List<String> secrets = secrets(headers);
    boolean shown = !secrets.isEmpty() || presentsExtensionToken(headers);
    boolean looked = shown && !access.isBlocked();
    boolean token =
        isToken(HeaderFilter.cookieTokens(headers), sandbox, port)
            || (looked && (isToken(secrets, sandbox, port) || hasExtensionToken(headers, sandbox)));
    Optional<ApiKey> key = looked && !token ? key(secrets) : Optional.empty();
    if (looked && !token && key.isEmpty()) {
      access.recordAuthFailure();
    }
    boolean known = token || key.filter(one -> one.scope().allows(Scope.USE)).isPresent();
    access.acquire(sandbox.value(), known && !exchange.isCrossOrigin());
    if (isPublic(sandbox, port)) {
      return Optional.empty();
    }
    if (exchange.isCrossOrigin()) {
      throw Fault.of(
              ErrorCode.FORBIDDEN,
              "pages of another origin may not call this preview",
              "open the port to everybody, or call it from its own pages")
          .sandbox(sandbox)
          .exception();
    }
    if (known) {
      if (key.isPresent()) {
        hostAccess.check(key, sandbox.value());
      }
      return Optional.empty();
    }
    if (shown && !looked) {
      access.checkNotBlocked();
    }
    return key.isPresent() ? forbid(key.get()) : Optional.of(otherKey(headers, access, sandbox));
  }

  private Optional<String> forbid(ApiKey key) {
    throw Fault.of(
            ErrorCode.FORBIDDEN,
            "the key " + key.name() + " does not allow use",
            "use a key with scope use")
        .exception();
  }

  /** A key of the environment may have any form; before a private port it is looked at. */
  private String otherKey(List<Header> headers, PreviewThrottle access, SandboxId sandbox) {
    List<String> bearers =
        Header.values(headers, "Authorization").stream()
            .map(Credentials::bearer)
            .filter(secret -> !secret.isEmpty() && !hasServerForm(secret))
            .toList();
    if (!bearers.isEmpty()) {
      access.checkNotBlocked();
      Optional<ApiKey> key = key(bearers);
      if (key.isPresent() && bearers.size() == 1) {
        if (!key.get().scope().allows(Scope.USE)) {
          forbid(key.get());
        }
        hostAccess.check(key, sandbox.value());
        return bearers.getFirst();
      }
      access.recordAuthFailure();
    }
    throw unauthenticated(
        "this preview is private",
        "open it by a link, send a token as " + Credentials.TOKEN_HEADER + ", or a key");
  }

  private Optional<ApiKey> key(List<String> secrets) {
    return secrets.stream().flatMap(one -> keys.find(one).stream()).findFirst();
  }

  private boolean isToken(List<String> secrets, SandboxId sandbox, int port) {
    return secrets.stream()
        .flatMap(one -> keys.tokens().find(one).stream())
        .anyMatch((SandboxToken one) -> one.opens(sandbox, port));
  }

  /** Clients of another API show what they were given when the sandbox was made. */
  private boolean hasExtensionToken(List<Header> headers, SandboxId sandbox) {
    return extensionCredentials
        .find(name -> Header.values(headers, name), sandbox, keys.tokens())
        .isPresent();
  }

  /** A client without a key is not told whether a sandbox is there. */
  private boolean isPublic(SandboxId sandbox, int port) {
    if (keys.publicPorts().contains(sandbox, port)) {
      return true;
    }
    // On the network of the host a port is the host's: it is opened one by one, by an
    // administrator.
    if (hostAccess.hostAccess(sandbox).network()) {
      return false;
    }
    try {
      return context.engine().view(sandbox).labels().containsKey(PublicPorts.ALL_PORTS_LABEL);
    } catch (NotFound absent) {
      return false;
    }
  }

  static SandboxException unauthenticated(String what, String remedy) {
    return Fault.of(ErrorCode.UNAUTHENTICATED, what, remedy).exception();
  }

  private static boolean hasServerForm(String secret) {
    return secret.startsWith(SandboxTokens.PREFIX) || secret.startsWith(ApiKeys.PREFIX);
  }

  /**
   * Tells whether a header has a credential for us, good or not: sandboxes get none of them. Told
   * by its form, because a site could otherwise find out which keys are good.
   *
   * @param shown by which the request came in
   */
  boolean isServerCredential(Header header, Optional<String> shown) {
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
        .filter(one -> hasServerForm(one) || shown.filter(one::equals).isPresent())
        .isPresent();
  }
}
