package dev.isola.engine.egress;

import dev.isola.egress.Interception;
import dev.isola.spi.SandboxId;
import dev.isola.spi.spec.Network;
import java.util.function.Supplier;

/** Takes part in the HTTP requests of one sandbox, with its certificate authority and secrets. */
public interface SandboxInterception extends Interception {
  /** Returns the certificate of its authority in PEM, which its programs are told to trust. */
  String certificate();

  /** Creates interceptions. */
  @FunctionalInterface
  interface Factory {
    /**
     * @param network the current network of the sandbox
     */
    SandboxInterception open(SandboxId id, Supplier<Network> network);
  }
}
