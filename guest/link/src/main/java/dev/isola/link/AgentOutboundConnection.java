package dev.isola.link;

import dev.isola.spi.capability.EgressAccess;
import java.io.IOException;
import java.nio.ByteBuffer;

/** A connection of a guest process to another host, which ends at the agent. */
final class AgentOutboundConnection implements EgressAccess.OutboundConnection {
  private final AgentPort port;
  private final String host;
  private final int number;
  private volatile boolean finished;

  AgentOutboundConnection(AgentPort port, String host, int number) {
    this.port = port;
    this.host = host;
    this.number = number;
  }

  @Override
  public String host() {
    return host;
  }

  @Override
  public int port() {
    return number;
  }

  @Override
  public int read(ByteBuffer target) throws IOException {
    return port.read(target);
  }

  @Override
  public int write(ByteBuffer source) throws IOException {
    return port.write(source);
  }

  @Override
  public void shutdownOutput() {
    finished = true;
    port.shutdownOutput();
  }

  @Override
  public boolean isOpen() {
    return port.isOpen();
  }

  /** Resets the connection unless all of the output was sent. */
  @Override
  public void close() {
    if (finished) {
      port.close();
    } else if (port.isOpen()) {
      port.reset();
    }
  }
}
