package dev.isola.provider.http;

import dev.isola.link.AgentAbsentException;
import dev.isola.link.AgentChannel;
import dev.isola.link.AgentConnector;
import dev.isola.provider.http.client.ChannelOpener;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/**
 * Connects to the agent of a sandbox over a channel of the backend.
 *
 * @param exists returns false if the sandbox was destroyed, perhaps by another process
 */
record ChannelConnector(ChannelOpener opener, BooleanSupplier exists) implements AgentConnector {

  @Override
  public AgentChannel open(Duration timeout) throws IOException {
    return opener.open(timeout, Connection::new);
  }

  /** Tells the end of a connection from the end of its sandbox. */
  private final class Connection extends FilterInputStream {
    Connection(InputStream in) {
      super(in);
    }

    @Override
    public int read(byte[] buffer, int from, int length) throws IOException {
      int count = super.read(buffer, from, length);
      if (count < 0 && !exists.getAsBoolean()) {
        throw AgentAbsentException.permanent("it was destroyed", null);
      }
      return count;
    }
  }

  @Override
  public String toString() {
    return opener.address() + opener.path();
  }
}
