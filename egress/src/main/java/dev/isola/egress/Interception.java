package dev.isola.egress;

import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.spec.HttpRule;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.List;

/** Takes part in the HTTP requests of a sandbox, opening TLS where necessary. */
public interface Interception {
  /** Connects to the checked address of the host. */
  @FunctionalInterface
  interface Dialer {
    SocketChannel dial() throws IOException;
  }

  /**
   * Is told about requests. An interface, because the gate that records them is hidden from what
   * intercepts.
   */
  interface RequestObserver {
    void denied(String method, String path, String reason);

    /** The connection failed for another reason than a denial. */
    void failed(String reason);
  }

  /** Returns whether requests to a host are changed on the way, because a secret is bound to it. */
  boolean concerns(String host, int port);

  /**
   * Serves a connection: passes on the requests that a rule allows, and answers the others.
   *
   * @param rules the only requests that are allowed; all if empty
   */
  void serve(
      PortDialing.Connection client,
      String host,
      int port,
      List<HttpRule> rules,
      Dialer dialer,
      RequestObserver observer)
      throws IOException;

  /**
   * Tells the guest process why it was denied if it speaks HTTP, also inside TLS, and returns when
   * the connection can be closed.
   *
   * @param denied whether it is denied; otherwise the host cannot be reached
   * @param remedy the rule that would allow it; empty if there is none
   */
  void refuse(
      PortDialing.Connection client,
      String host,
      int port,
      boolean denied,
      String reason,
      String remedy)
      throws IOException;
}
