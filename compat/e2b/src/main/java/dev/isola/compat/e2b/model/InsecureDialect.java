package dev.isola.compat.e2b.model;

import dev.isola.server.auth.ApiKey;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.Scope;
import dev.isola.server.route.ApiDialect;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.Fault;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * A dialect of envd that also accepts requests without a token, to sandboxes that need none.
 *
 * @param dialect decides about requests with a token, and renders errors
 */
public record InsecureDialect(ApiDialect dialect, InsecureAccess access) implements ApiDialect {
  private static final ApiKey ANONYMOUS_KEY =
      ApiKey.token(E2bCredentials.ANONYMOUS_ACTOR, Scope.USE);

  @Override
  public boolean isNative() {
    return dialect.isNative();
  }

  @Override
  public SandboxId sandbox(String identifier) {
    return dialect.sandbox(identifier);
  }

  @Override
  public List<String> secrets(Function<String, List<String>> headers) {
    return dialect.secrets(headers);
  }

  @Override
  public Optional<ApiKey> key(String secret, Optional<SandboxId> sandbox, ApiKeys keys) {
    return dialect.key(secret, sandbox, keys);
  }

  @Override
  public Optional<ApiKey> anonymousKey(
      Function<String, List<String>> headers, Optional<SandboxId> sandbox) {
    return sandbox
        .filter(id -> access.isOpen(id, header -> !headers.apply(header).isEmpty()))
        .map(_ -> ANONYMOUS_KEY);
  }

  @Override
  public ErrorResponse error(Fault fault, String requestId, Optional<SandboxId> sandbox) {
    return dialect.error(fault, requestId, sandbox);
  }
}
