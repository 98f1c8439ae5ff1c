package dev.isola.spi.capability;

import java.util.Set;
import java.util.function.Consumer;

/**
 * Receives the connections that guest processes make to other hosts. A sandbox in network mode
 * {@code filtered} has no route to any network: without an open {@link Relay} every such connection
 * is refused.
 */
public interface EgressAccess {
  /**
   * A connection of a guest process to another host. The guest process believes to be connected;
   * what it has sent can be read. Closing it without {@code shutdownOutput} resets it.
   */
  interface OutboundConnection extends PortDialing.Connection {
    /**
     * Returns the name that the guest process resolved, or the address if it resolved none. It
     * comes from the sandbox and is not trusted.
     */
    String host();

    /** Returns the port that the guest process connected to. */
    int port();
  }

  /** Connections are accepted until it is closed. It outlives a lost connection to the sandbox. */
  interface Relay extends AutoCloseable {
    /** Returns whether every port is passed on; otherwise only those that were named. */
    boolean servesEveryPort();

    /** Changes the ports that are passed on where not every port is. */
    void setPorts(Set<Integer> ports);

    @Override
    void close();
  }

  /**
   * Accepts connections. Each is passed to {@code handler} on its own virtual thread, and is closed
   * when the handler returns. A sandbox has one relay; another one replaces it.
   *
   * @param certificate the certificate authority, in PEM, that programs in the sandbox are told to
   *     trust in addition to their own; empty for none
   * @param ports the ports to pass on where not every port is
   */
  Relay open(String certificate, Set<Integer> ports, Consumer<OutboundConnection> handler);
}
