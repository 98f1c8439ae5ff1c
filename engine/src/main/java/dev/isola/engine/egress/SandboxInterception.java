package dev.isola.engine.egress;

import dev.isola.egress.Interception;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.spec.HttpRule;
import dev.isola.spi.spec.Network;
import java.util.List;
import java.util.function.Supplier;

/** Takes part in the HTTP requests of one sandbox, with its certificate authority and secrets. */
public interface SandboxInterception extends Interception {
  /** Returns the certificate of its authority in PEM, which its programs are told to trust. */
  String certificate();

  /** Opens no TLS and answers nothing: denied connections are reset. */
  Factory NONE =
      (_, _) ->
          new SandboxInterception() {
            @Override
            public String certificate() {
              return "";
            }

            @Override
            public boolean concerns(String host) {
              return false;
            }

            @Override
            public void serve(
                PortDialing.Connection client,
                String host,
                int port,
                List<HttpRule> rules,
                Dialer dialer,
                RequestObserver observer) {}

            @Override
            public void refuse(
                PortDialing.Connection client, String host, int port, int status, String reason) {}
          };

  /** Creates interceptions. */
  @FunctionalInterface
  interface Factory {
    /**
     * @param network the current network of the sandbox
     */
    SandboxInterception open(SandboxId id, Supplier<Network> network);
  }
}
