package dev.isola.provider.kubernetes;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.codec.time.Deadline;
import dev.isola.host.launch.NetworkRecord;
import dev.isola.host.launch.VisibleCpus;
import dev.isola.link.AgentChannel;
import dev.isola.link.BootRecord;
import dev.isola.link.StreamAgentChannel;
import dev.isola.provider.kubernetes.api.ExecStream;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.Secret;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.SandboxSpec;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Sends the boot record to the agent of a pod: the secret and the environment are in no object of
 * the cluster. The process in the container that passes the record on is also the first connection
 * to the agent.
 */
record PodBoot(Cluster cluster, InstanceId instance) {
  private static final long MEGABYTE = 1 << 20;
  private static final int MAX_LINE = 1024;
  private static final String READY = "ready";
  private static final List<String> BRIDGE =
      List.of(PodPlan.AGENT, "--boot-bridge", PodPlan.SOCKET);

  BootRecord record(SandboxSpec spec, Secret secret, boolean ownKernel) {
    BootRecord.Builder boot =
        BootRecord.forSpec(spec, instance.value(), secret, Map.of())
            .socket(Path.of(PodPlan.SOCKET))
            .user(spec.user())
            .workspace(Optional.of(spec.workspaceMount()))
            .inheritEnvironment()
            .isolateNetwork()
            .processors(VisibleCpus.of(spec.limits().cpu()))
            .diskLimit(spec.limits().diskMb() * MEGABYTE)
            .seccomp(true)
            .sudo();
    if (spec.network().isFiltered()) {
      boot.egress().resolvConf(NetworkRecord.FILTERED_RESOLV_CONF);
    }
    if (ownKernel) {
      boot.userThreads(spec.limits().threads());
    } else {
      boot.processLimit(spec.limits().processes());
    }
    return boot.build();
  }

  /** What became of an attempt to boot an agent. */
  sealed interface Attempt {
    /** The agent has the record; the channel continues with its challenge. */
    record Booted(AgentChannel channel) implements Attempt {}

    /** The agent had a record before, of an attempt whose answer was lost. */
    record BootedBefore() implements Attempt {}

    /** The container does not run, or the node cannot start a process in it yet. */
    record NotYet(String reason) implements Attempt {}
  }

  /**
   * Sends the record to the agent of a pod.
   *
   * @throws SandboxException if the agent refuses the record
   */
  Attempt send(String pod, SandboxId id, byte[] record, Deadline deadline) {
    ExecStream exec;
    try {
      exec = cluster.exec(pod, BRIDGE, deadline.left());
    } catch (ExecStream.Forbidden e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              String.valueOf(e.getMessage()),
              "grant create and get of pods/exec; isola doctor names what is missing, and"
                  + " docs/providers/kubernetes.md lists what is needed")
          .sandbox(id)
          .exception(e);
    } catch (IOException e) {
      return new Attempt.NotYet(String.valueOf(e.getMessage()));
    }
    boolean booted = false;
    try (ExecStream.Limit _ = exec.closeAt(deadline)) {
      exec.out().write(record);
      int first = exec.in().read();
      if (first == 0) { // a frame, instead of a line
        return new Attempt.BootedBefore();
      }
      String line = first < 0 ? "" : line((byte) first, exec);
      if (!line.isEmpty() && !line.equals(READY)) {
        throw failed(id, "the agent did not start: " + line, null);
      }
      booted = line.equals(READY);
      return booted
          ? new Attempt.Booted(StreamAgentChannel.overSocket(exec.in(), exec.out(), exec::close))
          : new Attempt.NotYet(exec.failureText());
    } catch (IOException e) {
      return new Attempt.NotYet(e.getMessage() + " " + exec.failureText());
    } finally {
      if (!booted) {
        exec.close();
      }
    }
  }

  private static String line(byte first, ExecStream exec) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    line.write(first);
    while (line.size() < MAX_LINE) {
      int next = exec.in().read();
      if (next < 0 || next == '\n') {
        break;
      }
      line.write(next);
    }
    return PodSnapshot.bounded(line.toString(UTF_8));
  }

  static SandboxException tooLate(
      SandboxId id, Deadline deadline, String what, @Nullable Throwable cause) {
    return Fault.of(
            ErrorCode.DEADLINE_EXCEEDED,
            "the pod did not start within " + deadline.whole().toMillis() + " ms: " + what,
            "raise startupTimeout, or check the load and the free resources of the nodes")
        .sandbox(id)
        .exception(cause);
  }

  static SandboxException failed(SandboxId id, String what, @Nullable Throwable cause) {
    return Fault.of(
            ErrorCode.SPAWN_FAILED, PodSnapshot.bounded(what), "see kubectl describe pod for more")
        .sandbox(id)
        .exception(cause);
  }
}
