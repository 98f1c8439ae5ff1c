package dev.isola.provider.kubernetes;

import dev.isola.link.AgentChannel;
import dev.isola.link.AgentConnector;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Uses the connection that booted an agent first, and another connector after it. */
final class BootedConnector implements AgentConnector {
  private final AtomicReference<@Nullable AgentChannel> first;
  private final AgentConnector next;

  BootedConnector(AgentChannel first, AgentConnector next) {
    this.first = new AtomicReference<>(first);
    this.next = next;
  }

  @Override
  public AgentChannel open(Duration timeout) throws IOException {
    AgentChannel existing = first.getAndSet(null);
    return existing == null ? next.open(timeout) : existing;
  }

  @Override
  public String toString() {
    return next.toString();
  }
}
