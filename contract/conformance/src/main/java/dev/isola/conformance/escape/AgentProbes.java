package dev.isola.conformance.escape;

import static dev.isola.conformance.escape.Probe.Topic.AGENT;

import dev.isola.conformance.escape.Probe.Plant;
import dev.isola.conformance.escape.Probe.Proof;
import dev.isola.conformance.escape.Probe.Reach;
import dev.isola.spi.Isolation;
import java.util.List;

/**
 * The guest agent, which holds the secret of its channel. On the bare host the planted process
 * stands in for it.
 */
final class AgentProbes {
  private AgentProbes() {}

  static List<Probe> all() {
    return List.of(
        inProc("memoryOfTheAgentIsNotRead", "agent-memory", "the agent's memory"),
        inProc("agentIsNotTraced", "agent-trace", "the agent, as a debugger"),
        inProc("filesOfTheAgentAreNotRead", "agent-files", "the agent's descriptors and /proc"),
        inProc("programOfTheAgentIsNotChanged", "agent-program", "what other sandboxes run too")
            .withFloors(Isolation.CONTAINER, Isolation.CONTAINER),
        inProc("agentIsNotKilled", "agent-kill", "the agent, by signals")
            .withProof(Proof.SANDBOX)
            .withFloors(Isolation.CONTAINER, Isolation.CONTAINER),
        Probe.of(
                "agentDoesNotAnswerWithoutTheSecret",
                AGENT,
                "the agent's channel",
                scene -> FileProbes.with("agent-channel", scene.all("sockets")))
            .withControl(scene -> List.of("agent-channel", scene.one("channel")))
            .withPlant(Plant.INSTALLATION)
            .fromProcess());
  }

  private static Probe inProc(String name, String program, String words) {
    return Probe.of(name, AGENT, words, scene -> List.of(program, "agent"))
        .withControl(scene -> List.of(program, scene.one("pid")))
        .withReach(Reach.KERNEL)
        .fromProcessExceptRoot();
  }
}
