package dev.isola.compat.e2b.envd;

import dev.isola.server.context.SandboxResolver;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.SandboxIds;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.FileUser;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Optional;

/** The one way from a request to the sandbox it is about, and to whom it speaks for there. */
final class SandboxAccess {
  /** The variable by which programs see that they run for E2B's clients. */
  static final String SANDBOX_VARIABLE = "E2B_SANDBOX";

  private static final String BASIC = "Basic ";

  private final ServerContext context;
  private final SandboxResolver waking;
  private final HomeDirectories homes;

  SandboxAccess(ServerContext serving) {
    this.context = serving;
    homes = new HomeDirectories(id -> serving.engine().bootGeneration(id));
    waking = new SandboxResolver(serving);
  }

  /** Somebody in a sandbox. */
  record SandboxUser(Sandbox sandbox, UserHome home) {
    /** Returns the files with all rights; what is made is his. */
    FileSystem files() {
      return sandbox.files().as(FileUser.rootFor(home.user()));
    }
  }

  /** Returns the sandbox of a request, awake. */
  Sandbox sandbox(Exchange exchange) {
    return sandbox(id(exchange));
  }

  Sandbox sandbox(SandboxId id) {
    return waking.resolve(id);
  }

  static SandboxId id(Exchange exchange) {
    return SandboxIds.of(exchange.path("id"));
  }

  /** Returns whom a call names, and the sandbox. */
  SandboxUser sandboxUser(Exchange exchange) {
    return sandboxUser(sandbox(exchange), user(exchange));
  }

  SandboxUser sandboxUser(Sandbox sandbox, Optional<String> user) {
    return new SandboxUser(sandbox, homes.find(sandbox, user));
  }

  /** Returns a capability of a sandbox, or the refusal that names it. */
  <C extends Capability> C requireCapability(Sandbox sandbox, Class<C> capability) {
    return sandbox
        .as(capability)
        .orElseThrow(
            () ->
                Capability.unsupported(
                    context.engine().view(sandbox.id()).provider(), Capability.idOf(capability)));
  }

  /** Returns the name before the colon; there is never a password. */
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
      throw ConnectMessage.invalid("Authorization: Basic is not base64");
    }
  }
}
