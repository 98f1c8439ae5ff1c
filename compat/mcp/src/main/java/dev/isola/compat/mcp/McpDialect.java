package dev.isola.compat.mcp;

import dev.isola.server.auth.ApiKey;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.route.ApiDialect;
import dev.isola.server.route.NativeDialect;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.Fault;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** Keys and errors as in the native API. Errors of the protocol itself are answers to POST. */
record McpDialect(ApiDialect same) implements ApiDialect {
  McpDialect() {
    this(new NativeDialect());
  }

  @Override
  public boolean isNative() {
    return false;
  }

  @Override
  public List<String> secrets(Function<String, List<String>> headers) {
    return same.secrets(headers);
  }

  @Override
  public Optional<ApiKey> key(String secret, Optional<SandboxId> sandbox, ApiKeys keys) {
    return same.key(secret, sandbox, keys);
  }

  @Override
  public ErrorResponse error(Fault fault, String requestId, Optional<SandboxId> sandbox) {
    return same.error(fault, requestId, sandbox);
  }
}
