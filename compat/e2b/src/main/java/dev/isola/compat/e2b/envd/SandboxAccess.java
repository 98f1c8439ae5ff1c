package dev.isola.compat.e2b.envd;

import dev.isola.server.context.SandboxResolver;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.Exchange;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.FileUser;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Optional;

/** Resolves the sandbox of a request and the user the request acts for. */
final class SandboxAccess {
  /** The environment variable that tells programs they run in an E2B sandbox. */
  static final String SANDBOX_VARIABLE = "E2B_SANDBOX";

  private static final String BASIC = "Basic ";

  private final ServerContext context;
  private final SandboxResolver resolver;
  private final HomeDirectories homes;

  SandboxAccess(ServerContext context) {
    this.context = context;
    homes = new HomeDirectories(id -> context.sandboxes().bootGeneration(id));
    resolver = new SandboxResolver(context);
  }

  /** A user in a sandbox. */
  record SandboxUser(Sandbox sandbox, UserHome home) {
    /** Returns the file system with root privileges, creating files owned by the user. */
    FileSystem files() {
      return sandbox.files().as(FileUser.rootFor(home.user()));
    }
  }

  /** Returns the sandbox of a request, resuming it if necessary. */
  Sandbox sandbox(Exchange exchange) {
    return sandbox(exchange.sandbox());
  }

  Sandbox sandbox(SandboxId id) {
    return resolver.resolve(id);
  }

  /**
   * Returns whether a sandbox has ended or is being destroyed. The ledger says so before the first
   * process of the sandbox is killed, the handle only once the agent is gone.
   */
  boolean hasEnded(Sandbox sandbox) {
    return isEnd(sandbox.state()) || isEnd(context.sandboxes().view(sandbox.id()).state());
  }

  private static boolean isEnd(SandboxState state) {
    return state == SandboxState.TERMINATING || state == SandboxState.DESTROYED;
  }

  /** Returns the sandbox of a request and the user named in its credentials. */
  SandboxUser sandboxUser(Exchange exchange) {
    return sandboxUser(sandbox(exchange), user(exchange));
  }

  SandboxUser sandboxUser(Sandbox sandbox, Optional<String> user) {
    return new SandboxUser(sandbox, homes.find(sandbox, user));
  }

  /** Returns a capability of a sandbox, or throws an error that names the missing capability. */
  <C extends Capability> C requireCapability(Sandbox sandbox, Class<C> capability) {
    return sandbox
        .as(capability)
        .orElseThrow(
            () ->
                Capability.unsupported(
                    context.sandboxes().view(sandbox.id()).provider(),
                    Capability.idOf(capability)));
  }

  /** Returns the user name of Basic credentials. There is no password. */
  static Optional<String> user(Exchange exchange) {
    return exchange
        .header("Authorization")
        .filter(text -> text.regionMatches(true, 0, BASIC, 0, BASIC.length()))
        .map(text -> decoded(text.substring(BASIC.length()).strip()))
        .map(text -> text.split(":", 2)[0])
        .filter(name -> !name.isEmpty());
  }

  private static String decoded(String text) {
    try {
      return new String(Base64.getDecoder().decode(text), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw ConnectMessage.invalid("the Basic credentials in Authorization are not valid base64");
    }
  }
}
