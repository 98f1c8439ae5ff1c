package dev.isola.link;

import dev.isola.spi.capability.EgressAccess;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Receives the connections of guest processes to other hosts; at most one relay at a time. */
final class AgentEgress implements EgressAccess {
  private final AgentClient client;
  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable AgentEgressRelay current;

  AgentEgress(AgentClient client) {
    this.client = client;
  }

  @Override
  public Relay open(String certificate, Set<Integer> ports, Consumer<OutboundConnection> handler) {
    lock.lock();
    try {
      AgentEgressRelay opened = AgentEgressRelay.open(client, certificate, ports, handler);
      if (current != null) {
        current.replace();
      }
      current = opened;
      return opened;
    } finally {
      lock.unlock();
    }
  }
}
