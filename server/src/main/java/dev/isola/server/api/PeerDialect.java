package dev.isola.server.api;

import dev.isola.server.auth.ApiKey;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.route.ApiDialect;
import dev.isola.server.route.NativeDialect;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.Fault;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** Requests of other servers of the installation: no credentials of clients, native errors. */
record PeerDialect() implements ApiDialect {
  @Override
  public boolean isNative() {
    return false;
  }

  @Override
  public List<String> secrets(Function<String, List<String>> headers) {
    return List.of();
  }

  @Override
  public Optional<ApiKey> key(String secret, Optional<SandboxId> sandbox, ApiKeys keys) {
    return Optional.empty();
  }

  @Override
  public ErrorResponse error(Fault fault, String requestId, Optional<SandboxId> sandbox) {
    return new NativeDialect().error(fault, requestId, sandbox);
  }
}
