package dev.isola.spi.capability;

import java.nio.channels.ByteChannel;

/** Connects to TCP ports inside the sandbox, whatever its network mode. */
public non-sealed interface PortDialing extends Capability {

  /** One connection. Reading -1 is the peer's end of stream; {@link #shutdownOutput} is ours. */
  interface Connection extends ByteChannel {
    void shutdownOutput();
  }

  /**
   * Connects to {@code port} on the sandbox's own loopback.
   *
   * @throws dev.isola.spi.error.NotFound with {@code PORT_NOT_OPEN} when nothing listens there
   */
  Connection dial(int port);
}
