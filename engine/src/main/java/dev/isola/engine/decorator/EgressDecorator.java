package dev.isola.engine.decorator;

import dev.isola.spi.capability.EgressAccess;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Receives the connections of guest processes. The connections themselves are passed to the handler
 * as the provider made them.
 */
record EgressDecorator(EgressAccess inner, ProviderGuard guard) implements EgressAccess {
  @Override
  public Relay open(String certificate, Set<Integer> ports, Consumer<OutboundConnection> handler) {
    return new RelayDecorator(
        guard.direct("open", () -> inner.open(certificate, ports, handler)), guard);
  }

  /** An open relay. */
  private record RelayDecorator(Relay inner, ProviderGuard guard) implements Relay {
    @Override
    public boolean servesEveryPort() {
      return guard.direct("servesEveryPort", inner::servesEveryPort);
    }

    @Override
    public void setPorts(Set<Integer> ports) {
      guard.runDirect("setPorts", () -> inner.setPorts(ports));
    }

    @Override
    public void close() {
      guard.runDirect("close", inner::close);
    }
  }
}
