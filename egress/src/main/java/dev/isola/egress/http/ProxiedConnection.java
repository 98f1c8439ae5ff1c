package dev.isola.egress.http;

import dev.isola.spi.capability.PortDialing;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Both sides of a connection that is being served.
 *
 * @param client the side of the guest process, decrypted
 * @param tls whether the client uses TLS
 */
record ProxiedConnection(
    PortDialing.Connection client,
    boolean tls,
    Upstream server,
    HttpGate.Observer observer,
    ConnectionMonitor monitor,
    HttpGate.Limits limits) {
  private static final int MAX_LINGER_BYTES = 1 << 20;

  /** The connection to the server, opened when it is first needed. Used by one thread. */
  static final class Upstream {
    /** Opens the connection. */
    interface Opener {
      PortDialing.Connection open() throws IOException;
    }

    private final Opener opener;
    private PortDialing.@Nullable Connection connection;
    private @Nullable IOException failure;

    Upstream(Opener opener) {
      this.opener = opener;
    }

    PortDialing.Connection get() throws IOException {
      if (failure != null) {
        throw failure;
      }
      if (connection == null) {
        try {
          connection = opener.open();
        } catch (IOException e) {
          failure = e;
          throw e;
        }
      }
      return connection;
    }
  }

  /** Returns the connection to the server, which is opened in limited time. */
  PortDialing.Connection upstream() throws IOException {
    try (ConnectionMonitor.Deadline _ = monitor.deadline(limits.handshake())) {
      return server.get();
    }
  }

  /**
   * Reads what the client still sends after its last response: closing the connection before would
   * reset it, and the client could lose the response.
   */
  static void linger(
      PortDialing.Connection client, ConnectionMonitor monitor, HttpGate.Limits limits)
      throws IOException {
    try (ConnectionMonitor.Deadline _ = monitor.deadline(limits.linger())) {
      ByteBuffer ignored = ByteBuffer.allocate(8 * 1024);
      long count = 0;
      while (count < MAX_LINGER_BYTES && client.read(ignored.clear()) >= 0) {
        count += ignored.position();
      }
    }
  }
}
