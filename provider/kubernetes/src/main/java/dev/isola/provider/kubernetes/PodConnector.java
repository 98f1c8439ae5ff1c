package dev.isola.provider.kubernetes;

import dev.isola.link.AgentChannel;
import dev.isola.link.AgentConnector;
import java.io.IOException;
import java.time.Duration;

/**
 * Connects to the current pod of a sandbox. A sandbox that was stopped continues in another pod.
 */
final class PodConnector implements AgentConnector {
  private record Target(AgentConnector connector, String uid) {}

  private volatile Target target;

  /**
   * @param uid of the pod; empty while there is none
   */
  PodConnector(AgentConnector connector, String uid) {
    this.target = new Target(connector, uid);
  }

  void use(AgentConnector connector, String uid) {
    target = new Target(connector, uid);
  }

  String uid() {
    return target.uid();
  }

  @Override
  public AgentChannel open(Duration timeout) throws IOException {
    return target.connector().open(timeout);
  }

  @Override
  public String toString() {
    return target.connector().toString();
  }
}
