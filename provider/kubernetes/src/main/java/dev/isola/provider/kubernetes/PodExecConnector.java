package dev.isola.provider.kubernetes;

import dev.isola.codec.time.Deadline;
import dev.isola.link.AgentAbsentException;
import dev.isola.link.AgentChannel;
import dev.isola.link.AgentConnector;
import dev.isola.link.StreamAgentChannel;
import dev.isola.provider.kubernetes.api.ExecStream;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/**
 * Connects to the agent of a pod: the cluster starts a process in the container that relays its
 * standard input and output to the agent's socket. A connection costs one exec of the cluster;
 * commands cost one message each.
 *
 * @param uid of the pod; another pod of the same name is not the sandbox
 */
record PodExecConnector(Cluster cluster, String pod, String uid) implements AgentConnector {
  private static final List<String> BRIDGE = List.of(PodPlan.AGENT, "--bridge", PodPlan.SOCKET);
  private static final Duration STATE_TIMEOUT = Duration.ofSeconds(2);
  private static final Duration REPORT_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration POLL = Duration.ofMillis(100);

  @Override
  public AgentChannel open(Duration timeout) throws IOException {
    try {
      ExecStream exec = cluster.exec(pod, BRIDGE, timeout);
      return StreamAgentChannel.overSocket(exec.in(), exec.out(), exec::close);
    } catch (IOException e) {
      if (endsSoon(Deadline.in(timeout).within(REPORT_TIMEOUT))) {
        throw AgentAbsentException.permanent("its pod has ended", e);
      }
      throw e;
    } catch (SandboxException e) {
      throw new IOException(e.fault().problem(), e);
    }
  }

  /**
   * Tells whether the pod has ended. A node refuses an exec as soon as the container has ended, and
   * reports the end of the pod a second or two later.
   */
  private boolean endsSoon(Deadline deadline) {
    return deadline.await(POLL, this::ended);
  }

  /** Returns false if the API server does not respond; the next call asks again. */
  private boolean ended() {
    try {
      return cluster
          .pod(pod, Deadline.in(STATE_TIMEOUT))
          .map(PodSnapshot::of)
          .filter(found -> found.uid().equals(uid) && found.end().isEmpty())
          .isEmpty();
    } catch (SandboxException unknown) {
      return false;
    }
  }

  @Override
  public String toString() {
    return "exec in pod " + pod;
  }
}
