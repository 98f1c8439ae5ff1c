package dev.isola.server;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.UnresolvedAddressException;

/**
 * An open port without a server. Connections of clients wait until {@link IsolaServer#open} takes
 * it over. A server process opens it before anything else, so that a process that cannot have its
 * port changes nothing and prints no key.
 */
public final class ListeningPort implements AutoCloseable {
  private static final int BACKLOG = 1024;

  private final IsolaServer.Address address;
  private final ServerSocketChannel channel;

  private ListeningPort(IsolaServer.Address address, ServerSocketChannel channel) {
    this.address = address;
    this.channel = channel;
  }

  /**
   * Opens a port.
   *
   * @throws dev.isola.spi.error.ProviderUnavailable if it cannot be opened
   */
  public static ListeningPort open(IsolaServer.Address address) {
    try {
      ServerSocketChannel channel = ServerSocketChannel.open();
      boolean bound = false;
      try {
        channel.setOption(StandardSocketOptions.SO_REUSEADDR, true); // after a restart
        channel.bind(new InetSocketAddress(address.host(), address.port()), BACKLOG);
        bound = true;
        return new ListeningPort(address, channel);
      } finally {
        if (!bound) {
          channel.close();
        }
      }
    } catch (UnresolvedAddressException e) {
      throw failed(address, "the host is not known", e);
    } catch (IOException e) {
      throw failed(address, String.valueOf(e.getMessage()), e);
    }
  }

  private static RuntimeException failed(IsolaServer.Address address, String why, Exception cause) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "port " + address.port() + " of " + address.host() + " cannot be opened: " + why,
            "choose another address with --port or --host, or stop the process that uses it")
        .exception(cause);
  }

  IsolaServer.Address address() {
    return address;
  }

  ServerSocketChannel channel() {
    return channel;
  }

  /** Closes the port. Has no effect once a server has closed it. */
  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw new IllegalStateException("port " + address.port() + " cannot be closed", e);
    }
  }
}
