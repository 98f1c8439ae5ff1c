package dev.isola.server.route;

import dev.isola.server.auth.ApiKey;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.Credentials;
import dev.isola.server.error.Problem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.Fault;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** The native API: keys as bearer tokens, errors as problem documents (RFC 9457). */
public record NativeDialect() implements ApiDialect {

  @Override
  public boolean isNative() {
    return true;
  }

  @Override
  public List<String> secrets(Function<String, List<String>> headers) {
    return Credentials.of(headers).secrets();
  }

  @Override
  public Optional<ApiKey> key(String secret, Optional<SandboxId> sandbox, ApiKeys keys) {
    return Credentials.key(secret, sandbox, keys);
  }

  @Override
  public ErrorResponse error(Fault fault, String requestId, Optional<SandboxId> sandbox) {
    Problem problem = Problem.of(fault, requestId);
    return new ErrorResponse(problem.status(), Problem.MEDIA_TYPE, problem.body());
  }
}
