package dev.isola.compat.e2b.model;

import dev.isola.server.auth.ApiKey;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.Credentials;
import dev.isola.server.auth.Scope;
import dev.isola.server.route.ApiDialect;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.Fault;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** Dialects of E2B's API: the control plane and envd. */
public enum E2bDialect implements ApiDialect {
  /** Control plane: an API key in {@code X-API-KEY}, errors with code and message. */
  CONTROL {
    @Override
    public List<String> secrets(Function<String, List<String>> headers) {
      List<String> keys = headers.apply(E2bCredentials.KEY_HEADER);
      return keys.isEmpty()
          ? headers.apply("Authorization").stream().map(Credentials::bearer).toList()
          : keys;
    }

    @Override
    public Optional<ApiKey> key(String secret, Optional<SandboxId> sandbox, ApiKeys keys) {
      if (keys.tokens().find(secret).isPresent()) {
        throw Credentials.forbidden("the control plane does not accept sandbox tokens");
      }
      return keys.find(secret);
    }

    @Override
    E2bError of(Fault fault, String sandbox) {
      return E2bError.control(fault);
    }
  },

  /** HTTP routes of envd: the sandbox's own token. */
  ENVD {
    @Override
    E2bError of(Fault fault, String sandbox) {
      return E2bError.envd(fault, sandbox);
    }
  },

  /** Connect calls of envd: the sandbox's own token, Connect error codes. */
  CONNECT {
    @Override
    E2bError of(Fault fault, String sandbox) {
      return E2bError.connect(fault, sandbox);
    }
  };

  private static final ApiKey ENVD_KEY = ApiKey.token(E2bCredentials.ENVD_ACTOR, Scope.USE);

  abstract E2bError of(Fault fault, String sandbox);

  @Override
  public boolean isNative() {
    return false;
  }

  @Override
  public SandboxId sandbox(String identifier) {
    return E2bSandboxIds.of(identifier);
  }

  @Override
  public List<String> secrets(Function<String, List<String>> headers) {
    return headers.apply(E2bCredentials.ENVD_HEADER);
  }

  @Override
  public Optional<ApiKey> key(String secret, Optional<SandboxId> sandbox, ApiKeys keys) {
    return sandbox
        .filter(id -> keys.tokens().isStableToken(id, E2bCredentials.ENVD, secret))
        .map(id -> ENVD_KEY);
  }

  @Override
  public ErrorResponse error(Fault fault, String requestId, Optional<SandboxId> sandbox) {
    E2bError error = of(fault, sandbox.map(SandboxId::value).orElse(""));
    return new ErrorResponse(error.status(), "application/json", error.body());
  }
}
