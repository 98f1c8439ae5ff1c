package dev.isola.testing.provider;

import dev.isola.link.local.AgentProcess;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The agents started by this JVM. Those that a test leaves running end with the JVM. */
final class SpawnedAgents {
  private static final Set<AgentProcess> AGENTS = ConcurrentHashMap.newKeySet();

  static {
    Runtime.getRuntime().addShutdownHook(new Thread(SpawnedAgents::end));
  }

  private SpawnedAgents() {}

  static void add(AgentProcess agent) {
    AGENTS.add(agent);
  }

  private static void end() {
    for (AgentProcess agent : AGENTS) {
      if (agent.isAlive()) {
        ProcessHandle.of(agent.pid()).stream()
            .flatMap(ProcessHandle::descendants)
            .forEach(ProcessHandle::destroyForcibly);
        agent.kill();
      }
    }
  }
}
