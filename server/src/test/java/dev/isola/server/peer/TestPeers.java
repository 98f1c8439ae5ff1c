package dev.isola.server.peer;

import dev.isola.engine.api.Peers;
import java.time.Duration;
import java.time.InstantSource;

/** Gives tests of other packages what they need to act as a server. */
public final class TestPeers {
  private TestPeers() {}

  /** Returns servers whose requests wait this long for an owner. */
  public static PeerServers open(Peers peers, Duration timeout) {
    return new PeerServers(peers, InstantSource.system(), timeout);
  }

  /** Signs a statement as the server with these peers would. */
  public static String sign(Peers peers, PeerRequest statement) {
    return new PeerSignature(peers.self(), peers::key, InstantSource.system()).sign(statement);
  }
}
