package dev.isola.egress.http;

import static dev.isola.egress.http.ProxyFixture.require;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;

/**
 * A guest process begins TLS with the input. The name in it is part of the input, and the input is
 * read again by the TLS engine.
 */
public final class ClientHelloFuzz {
  private ClientHelloFuzz() {}

  public static void fuzzerTestOneInput(byte[] input) throws IOException {
    MemoryConnection client = new MemoryConnection(_ -> {});
    client.supply(input);
    client.end();
    try (ConnectionMonitor monitor = new ConnectionMonitor(Duration.ofMinutes(1))) {
      MonitoredConnection peeked = new MonitoredConnection(client, monitor);
      Optional<String> name = ClientHello.serverName(peeked);
      require(name.isEmpty() || name.get().length() < input.length, "a name that is not there");
      ByteBuffer again = ByteBuffer.allocate(input.length);
      while (again.hasRemaining() && peeked.read(again) >= 0) {}
      require(Arrays.equals(again.array(), input), "another input is read");
    }
  }
}
