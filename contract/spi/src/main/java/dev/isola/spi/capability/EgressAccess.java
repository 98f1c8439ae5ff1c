package dev.isola.spi.capability;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
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

    /**
     * Connects to another host in a process beside the server, to which the guest process's
     * connection can be handed over if nothing was read from it or written to it.
     *
     * @param timeout how long connecting takes at most
     * @return empty if there is no such process; the caller connects and copies itself then
     * @throws IOException if the host does not accept the connection
     */
    default Optional<RelayedConnection> connect(InetSocketAddress to, Duration timeout)
        throws IOException {
      return Optional.empty();
    }
  }

  /** A connection to another host in a process beside the server. */
  interface RelayedConnection extends AutoCloseable {
    /**
     * Limits how many bytes all connections of that process pass on in a second, in each direction.
     * Called before {@link #start}, and again whenever the limit changes.
     *
     * @param bytesPerSecond 0 for no limit
     */
    void limit(long bytesPerSecond);

    /**
     * Hands the guest process's connection over: that process copies its bytes from now on. Called
     * once.
     *
     * @return false if that was not possible; the {@link OutboundConnection} can be used as before
     */
    boolean start();

    /** Returns how many bytes the guest process has sent, as of a second ago while it is open. */
    long sentBytes();

    /** Returns how many bytes the guest process was sent. */
    long receivedBytes();

    /** Waits until both sides have ended, or the connection was lost. */
    void awaitEnd() throws InterruptedException;

    /** Resets both sides unless they have ended. */
    @Override
    void close();
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
