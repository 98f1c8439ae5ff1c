package dev.isola.compat.e2b.control;

import dev.isola.compat.e2b.model.E2bDialect;
import dev.isola.compat.e2b.model.E2bError;
import dev.isola.compat.e2b.model.E2bLabels;
import dev.isola.engine.api.SandboxView;
import dev.isola.server.auth.ApiKey;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.Credentials;
import dev.isola.server.auth.HostOriginFilter;
import dev.isola.server.auth.SandboxTokens;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.ApiDialect;
import dev.isola.server.route.NativeDialect;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.SandboxException;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Errors of requests to ports of sandboxes. For a sandbox that was created through E2B's API, and
 * for an unknown one, they are those of E2B's proxy; for any other sandbox those of the native API.
 * The sandbox is looked up only when there is an error to report.
 *
 * @param named whether headers of E2B's clients name the sandbox
 * @param nativeCredential whether the request carries a credential in the format of this server
 */
public record E2bPortDialect(
    ServerContext context,
    HostOriginFilter.PreviewTarget target,
    boolean named,
    boolean nativeCredential)
    implements ApiDialect {

  /** Returns whether a request carries a credential in the format of this server, valid or not. */
  public static boolean presentsNativeCredential(Function<String, List<String>> headers) {
    return !headers.apply(Credentials.TOKEN_HEADER).isEmpty()
        || headers.apply("Authorization").stream()
            .map(Credentials::bearer)
            .anyMatch(
                secret -> ApiKeys.hasKeyForm(secret) || secret.startsWith(SandboxTokens.PREFIX));
  }

  @Override
  public boolean isNative() {
    return false;
  }

  @Override
  public List<String> secrets(Function<String, List<String>> headers) {
    return E2bDialect.ENVD.secrets(headers);
  }

  @Override
  public Optional<ApiKey> key(String secret, Optional<SandboxId> sandbox, ApiKeys keys) {
    return E2bDialect.ENVD.key(secret, sandbox, keys);
  }

  @Override
  public ErrorResponse error(Fault fault, String requestId, Optional<SandboxId> sandbox) {
    Optional<SandboxView> entry;
    try {
      entry = find();
    } catch (SandboxException e) {
      return new NativeDialect().error(fault, requestId, sandbox); // the ledger is not available
    }
    boolean e2b =
        named
            || entry
                .map(one -> E2bLabels.of(one, E2bLabels.TEMPLATE).isPresent())
                .orElse(!nativeCredential);
    if (!e2b) {
      return new NativeDialect().error(fault, requestId, sandbox);
    }
    E2bError error =
        E2bError.port(
            fault,
            target.sandbox().value(),
            target.port(),
            entry.filter(E2bPortDialect::isReachable).isPresent());
    return new ErrorResponse(error.status(), "application/json", error.body());
  }

  private Optional<SandboxView> find() {
    ServerContext.Components components = context.current().orElseThrow(ServerContext::unavailable);
    try {
      return Optional.of(components.engine().sandboxes().view(target.sandbox()));
    } catch (NotFound e) {
      return Optional.empty();
    }
  }

  private static boolean isReachable(SandboxView entry) {
    return entry.state() == SandboxState.CREATING
        || entry.state() == SandboxState.RUNNING
        || (E2bSandboxView.isSuspended(entry) && entry.request().lifecycle().autoResume());
  }
}
