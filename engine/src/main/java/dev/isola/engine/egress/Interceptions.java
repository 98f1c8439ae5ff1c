package dev.isola.engine.egress;

import dev.isola.engine.api.secret.SecretService;
import dev.isola.engine.config.Config;
import dev.isola.spi.SandboxId;
import dev.isola.spi.spec.Network;
import java.util.function.Supplier;

/** Opens the interception of each sandbox. */
public final class Interceptions implements SandboxInterception.Factory {
  private final SandboxAuthorities authorities;
  private final SecretService secrets;
  private final HttpGates gates;

  /**
   * @throws dev.isola.spi.error.InvalidRequest if the operator's certificates cannot be read
   */
  public Interceptions(Config config, SandboxAuthorities authorities, SecretService secrets) {
    this.authorities = authorities;
    this.secrets = secrets;
    this.gates = HttpGates.of(config);
  }

  @Override
  public SandboxInterception open(SandboxId id, Supplier<Network> network) {
    return new HttpInterception(authorities.get(id), network, secrets::bound, gates);
  }
}
