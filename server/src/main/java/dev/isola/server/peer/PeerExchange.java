package dev.isola.server.peer;

import dev.isola.server.route.Exchange;

/** A request that another server may have passed on. */
public interface PeerExchange extends Exchange {

  /** Returns whether another server of the installation asks, with a valid statement. */
  boolean isFromPeer(PeerRequest.Kind kind);
}
