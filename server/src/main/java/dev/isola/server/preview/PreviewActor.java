package dev.isola.server.preview;

import dev.isola.server.auth.Actor;
import dev.isola.server.auth.ApiKey;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.Credentials;
import dev.isola.server.auth.PortCredentials;
import dev.isola.server.auth.SandboxToken;
import dev.isola.server.forward.Header;
import dev.isola.spi.SandboxId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Determines the name of the actor of an authorized request to a port, for the logs. */
record PreviewActor(ApiKeys keys, PortCredentials extensionCredentials) {
  private static final String BEARER = "Bearer ";

  String of(List<Header> headers, SandboxId sandbox, int port) {
    List<String> credentials = new ArrayList<>(Header.values(headers, Credentials.TOKEN_HEADER));
    for (String value : Header.values(headers, "Authorization")) {
      if (value.regionMatches(true, 0, BEARER, 0, BEARER.length())) {
        credentials.add(value.substring(BEARER.length()).strip());
      }
    }
    List<String> tokens = new ArrayList<>(credentials);
    tokens.addAll(HeaderFilter.cookieTokens(headers));
    Optional<SandboxToken> token =
        tokens.stream()
            .flatMap(one -> keys.tokens().find(one).stream())
            .filter(one -> one.opens(sandbox, port))
            .findFirst();
    if (token.isPresent()) {
      return token.get().kind() == SandboxToken.Kind.USE
          ? Actor.SANDBOX_TOKEN
          : Actor.PREVIEW_TOKEN;
    }
    Optional<PortCredentials.Token> steady =
        extensionCredentials.find(name -> Header.values(headers, name), sandbox, keys.tokens());
    if (steady.isPresent()) {
      return steady.get().actor();
    }
    return credentials.stream()
        .flatMap(one -> keys.find(one).stream())
        .map(ApiKey::name)
        .findFirst()
        .orElse(Actor.PUBLIC);
  }
}
