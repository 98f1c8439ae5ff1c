package dev.isola.spi.capability;

import java.nio.channels.ByteChannel;

/** Connects to TCP ports inside the sandbox, regardless of its network mode. */
public non-sealed interface PortDialing extends Capability {

  /**
   * A TCP connection. A read returns -1 after the peer closed its output; {@link #shutdownOutput}
   * closes this side's output.
   */
  interface Connection extends ByteChannel {
    void shutdownOutput();
  }

  /**
   * Connects to {@code port} on the loopback interface of the sandbox.
   *
   * @throws dev.isola.spi.error.NotFound with {@code PORT_NOT_OPEN} if no process listens on the
   *     port
   */
  Connection dial(int port);
}
