package dev.isola.conformance.escape;

import static dev.isola.conformance.escape.EscapeProbe.Topic.AGENT;

import dev.isola.conformance.escape.EscapeProbe.Evidence;
import dev.isola.conformance.escape.EscapeProbe.Reach;
import dev.isola.conformance.escape.EscapeProbe.TargetLocation;
import dev.isola.spi.Isolation;
import java.util.List;

/**
 * Attacks on the guest agent, which holds the secret of its channel. On the bare host, the target
 * process takes its place.
 */
final class AgentProbes {
  private AgentProbes() {}

  static List<EscapeProbe> all() {
    return List.of(
        inProc("memoryOfTheAgentIsNotRead", "agent-memory", "the agent's memory"),
        inProc("agentIsNotTraced", "agent-trace", "the agent, as a debugger"),
        inProc("filesOfTheAgentAreNotRead", "agent-files", "the agent's descriptors and /proc"),
        inProc(
                "programOfTheAgentIsNotChanged",
                "agent-program",
                "the agent's program, which other sandboxes share")
            .withFloors(Isolation.CONTAINER, Isolation.CONTAINER),
        inProc("agentIsNotKilled", "agent-kill", "the agent, by signals")
            .withEvidence(Evidence.SANDBOX)
            .withFloors(Isolation.CONTAINER, Isolation.CONTAINER),
        EscapeProbe.of(
                "agentDoesNotAnswerWithoutTheSecret",
                AGENT,
                "the agent's channel",
                context -> FileProbes.with("agent-channel", context.all("sockets")))
            .withControl(context -> List.of("agent-channel", context.one("channel")))
            .withLocation(TargetLocation.INSTALLATION)
            .fromProcess());
  }

  private static EscapeProbe inProc(String name, String program, String target) {
    return EscapeProbe.of(name, AGENT, target, context -> List.of(program, "agent"))
        .withControl(context -> List.of(program, context.one("pid")))
        .withReach(Reach.KERNEL)
        .fromProcessExceptRoot();
  }
}
