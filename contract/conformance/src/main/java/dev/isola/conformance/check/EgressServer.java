package dev.isola.conformance.check;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.conformance.CheckFailed;
import dev.isola.spi.capability.EgressAccess;
import dev.isola.spi.capability.EgressAccess.OutboundConnection;
import dev.isola.spi.capability.Sandbox;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;

/** The other end of the connections of a sandbox: an echo server at every host and port. */
final class EgressServer implements AutoCloseable {
  /** The ports that are passed on where not every port is. */
  static final Set<Integer> PORTS = Set.of(443, 5432, 9999);

  private static final int RESET_PORT = 9999;
  private static final int BUFFER = 65_536;

  private final List<String> destinations = new CopyOnWriteArrayList<>();
  private final EgressAccess.Relay relay;

  private EgressServer(Sandbox sandbox, String certificate) {
    relay = access(sandbox).open(certificate, PORTS, this::serve);
  }

  static EgressServer open(Sandbox sandbox) {
    return new EgressServer(sandbox, "");
  }

  /**
   * @param certificate an authority that programs in the sandbox are told to trust
   */
  static EgressServer open(Sandbox sandbox, String certificate) {
    return new EgressServer(sandbox, certificate);
  }

  private static EgressAccess access(Sandbox sandbox) {
    return sandbox
        .egress()
        .orElseThrow(() -> new CheckFailed("a sandbox in mode filtered has no egress"));
  }

  EgressAccess.Relay relay() {
    return relay;
  }

  /** Returns what was connected to, as {@code host:port}, in order. */
  List<String> destinations() {
    return List.copyOf(destinations);
  }

  private void serve(OutboundConnection connection) {
    destinations.add(connection.host() + ":" + connection.port());
    if (connection.port() == RESET_PORT) {
      return; // closed without shutdownOutput
    }
    ByteBuffer buffer = ByteBuffer.allocate(BUFFER);
    try {
      while (connection.read(buffer) >= 0) {
        buffer.flip();
        while (buffer.hasRemaining()) {
          connection.write(buffer);
        }
        buffer.clear();
      }
      connection.write(ByteBuffer.wrap("end".getBytes(UTF_8)));
      connection.shutdownOutput();
    } catch (IOException e) {
      destinations.add(connection.host() + " failed: " + e.getMessage());
    }
  }

  @Override
  public void close() {
    relay.close();
  }
}
