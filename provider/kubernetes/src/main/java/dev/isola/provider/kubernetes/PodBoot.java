package dev.isola.provider.kubernetes;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.host.launch.NetworkRecord;
import dev.isola.host.launch.VisibleCpus;
import dev.isola.link.BootRecord;
import dev.isola.link.Deadline;
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
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Sends the boot record to the agent of a pod, over its standard input: the secret and the
 * environment are in no object of the cluster.
 */
record PodBoot(Cluster cluster, InstanceId instance) {
  private static final int RLIMIT_NPROC = 6;
  private static final int RLIMIT_NOFILE = 7;
  private static final long MEGABYTE = 1 << 20;
  private static final int MAX_LINE = 1024;
  private static final String READY = "ready";

  BootRecord record(SandboxSpec spec, Secret secret, boolean ownKernel) {
    Map<String, String> env = new LinkedHashMap<>();
    env.put("ISOLA_SANDBOX", spec.id().value());
    env.put("ISOLA_INSTANCE", instance.value());
    env.put("LANG", "C.UTF-8");
    env.putAll(spec.environment());
    int descriptors = spec.limits().fileDescriptors();
    BootRecord.Builder boot =
        BootRecord.builder(spec.id(), secret)
            .socket(Path.of(PodPlan.SOCKET))
            .cwd(spec.workingFolder())
            .user(spec.user())
            .workspace(Optional.of(spec.workspaceMount()))
            .env(env)
            .inheritEnvironment()
            .isolateNetwork()
            .rlimit(RLIMIT_NOFILE, descriptors, descriptors)
            .processors(VisibleCpus.of(spec.limits().cpu()))
            .diskLimit(spec.limits().diskMb() * MEGABYTE)
            .seccomp(true)
            .sudo();
    if (spec.network().isFiltered()) {
      boot.egress().resolvConf(NetworkRecord.FILTERED_RESOLV_CONF);
    }
    if (ownKernel) {
      boot.rlimit(RLIMIT_NPROC, spec.limits().threads(), spec.limits().threads());
    } else {
      boot.processLimit(spec.limits().processes());
    }
    spec.deadline().ifPresent(boot::deadline);
    spec.linger().ifPresent(boot::linger);
    return boot.build();
  }

  /** Sends the record to a pod whose agent runs, and returns once the agent listens. */
  void send(String pod, SandboxId id, byte[] record, Deadline deadline) {
    try (ExecStream stdio = cluster.attach(pod, deadline.left())) {
      stdio.closeAt(deadline);
      stdio.out().write(record);
      String line = firstLine(stdio);
      // A node may lose the line when the agent closes its output right after it. The handshake of
      // the connection that follows proves that the agent serves.
      if (!line.equals(READY) && !(line.isEmpty() && stdio.failureText().isEmpty())) {
        throw deadline.over()
            ? tooLate(id, deadline, "the agent did not answer", null)
            : failed(id, "the agent did not start: " + line + " " + stdio.failureText(), null);
      }
    } catch (IOException e) {
      if (deadline.over()) {
        throw tooLate(id, deadline, "the agent did not answer", e);
      }
      throw failed(id, "the agent did not start: " + e.getMessage(), e);
    }
  }

  private static String firstLine(ExecStream stdio) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    while (line.size() < MAX_LINE) {
      int next = stdio.in().read();
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
