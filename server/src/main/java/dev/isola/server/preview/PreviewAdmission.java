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
import dev.isola.server.context.Serving;
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
record PreviewAdmission(
    Serving serving, ApiKeys keys, HostAccessGuard hostAccess, PortCredentials others) {

  /** Returns what a request shows, apart from cookies, which are tokens only. */
  private static List<String> secrets(List<Header> headers) {
    List<String> secrets = new ArrayList<>();
    Header.values(headers, "Authorization")
        .forEach(value -> secrets.add(Credentials.bearer(value)));
    secrets.removeIf(secret -> !hasOurForm(secret));
    secrets.addAll(Header.values(headers, Credentials.TOKEN_HEADER));
    return List.copyOf(secrets);
  }

  /** Tells whether a request shows a token of another API, good or not. */
  private boolean showsOthers(List<Header> headers) {
    return others.tokens().stream()
        .anyMatch(one -> !Header.values(headers, one.header()).isEmpty());
  }

  /**
   * Lets a request in, or refuses it.
   *
   * @return the key by which it came in, if it showed one
   */
  Optional<String> admit(PreviewExchange exchange, SandboxId sandbox, int port) {
    List<Header> headers = exchange.headers();
    PreviewAccess access = exchange.access();
    List<String> secrets = secrets(headers);
    boolean shown = !secrets.isEmpty() || showsOthers(headers);
    boolean looked = shown && !access.isBlocked();
    boolean token =
        isToken(Heads.tokens(headers), sandbox, port)
            || (looked && (isToken(secrets, sandbox, port) || isOthers(headers, sandbox)));
    Optional<ApiKey> key = looked && !token ? key(secrets) : Optional.empty();
    if (looked && !token && key.isEmpty()) {
      access.failed();
    }
    boolean known = token || key.filter(one -> one.scope().allows(Scope.USE)).isPresent();
    access.enter(sandbox.value(), known && !exchange.fromForeignPage());
    if (isPublic(sandbox, port)) {
      return Optional.empty();
    }
    if (exchange.fromForeignPage()) {
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
      access.refuseBlocked();
    }
    return key.isPresent() ? refuse(key.get()) : Optional.of(otherKey(headers, access, sandbox));
  }

  private Optional<String> refuse(ApiKey key) {
    throw Fault.of(
            ErrorCode.FORBIDDEN,
            "the key " + key.name() + " does not allow use",
            "use a key with scope use")
        .exception();
  }

  /** A key of the environment may have any form; before a private port it is looked at. */
  private String otherKey(List<Header> headers, PreviewAccess access, SandboxId sandbox) {
    List<String> bearers =
        Header.values(headers, "Authorization").stream()
            .map(Credentials::bearer)
            .filter(secret -> !secret.isEmpty() && !hasOurForm(secret))
            .toList();
    if (!bearers.isEmpty()) {
      access.refuseBlocked();
      Optional<ApiKey> key = key(bearers);
      if (key.isPresent() && bearers.size() == 1) {
        if (!key.get().scope().allows(Scope.USE)) {
          refuse(key.get());
        }
        hostAccess.check(key, sandbox.value());
        return bearers.getFirst();
      }
      access.failed();
    }
    throw unknown(
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
  private boolean isOthers(List<Header> headers, SandboxId sandbox) {
    return others.find(name -> Header.values(headers, name), sandbox, keys.tokens()).isPresent();
  }

  /** A client without a key is not told whether a sandbox is there. */
  private boolean isPublic(SandboxId sandbox, int port) {
    if (keys.publicPorts().contains(sandbox, port)) {
      return true;
    }
    // On the network of the host a port is the host's: it is opened one by one, by an
    // administrator.
    if (hostAccess.of(sandbox).network()) {
      return false;
    }
    try {
      return serving.engine().entry(sandbox).labels().containsKey(PublicPorts.EVERY);
    } catch (NotFound absent) {
      return false;
    }
  }

  static SandboxException unknown(String what, String remedy) {
    return Fault.of(ErrorCode.UNAUTHENTICATED, what, remedy).exception();
  }

  private static boolean hasOurForm(String secret) {
    return secret.startsWith(SandboxTokens.PREFIX) || secret.startsWith(ApiKeys.PREFIX);
  }

  /**
   * Tells whether a header has a credential for us, good or not: sandboxes get none of them. Told
   * by its form, because a site could otherwise find out which keys are good.
   *
   * @param shown by which the request came in
   */
  boolean isOurs(Header header, Optional<String> shown) {
    if (others.tokens().stream().anyMatch(one -> header.is(one.header()))) {
      return true;
    }
    Optional<String> secret =
        header.is("Authorization")
            ? Optional.of(Credentials.bearer(header.value()))
            : others.keyHeaders().stream().anyMatch(header::is)
                ? Optional.of(header.value().strip())
                : Optional.empty();
    return secret
        .filter(one -> hasOurForm(one) || shown.filter(one::equals).isPresent())
        .isPresent();
  }
}
