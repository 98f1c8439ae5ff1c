package dev.isola.provider.kubernetes;

import dev.isola.link.AgentConnector;
import dev.isola.link.AgentSandbox;
import dev.isola.link.ChangeTracking;
import dev.isola.link.InstallationKey;
import dev.isola.link.LinkTimeouts;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.Gone;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Exit;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/** The agent connections of this process, and what happens to them when a pod ends. */
final class PodLinks implements AutoCloseable {
  /** An exec of a busy cluster takes longer than a socket. */
  private static final LinkTimeouts TIMEOUTS =
      LinkTimeouts.DEFAULT
          .withConnectTimeout(Duration.ofSeconds(20))
          .withHandshakeTimeout(Duration.ofSeconds(20));

  private record Link(AgentSandbox sandbox, String uid) {}

  private final Cluster cluster;
  private final Supplier<InstallationKey> key;
  private final Set<Class<? extends Capability>> capabilities;
  private final EndedPods endedPods;
  private final Map<SandboxId, Link> links = new ConcurrentHashMap<>();

  PodLinks(
      Cluster cluster,
      Supplier<InstallationKey> key,
      Set<Class<? extends Capability>> capabilities,
      EndedPods endedPods) {
    this.cluster = cluster;
    this.key = key;
    this.capabilities = capabilities;
    this.endedPods = endedPods;
  }

  /** Returns a connection to a sandbox that has just booted. */
  AgentSandbox open(SandboxId id, PodStart.Started started) {
    AgentSandbox sandbox = sandbox(id, started.pod(), started.connector());
    endedPods.remove(id);
    links.put(id, new Link(sandbox, started.pod().uid()));
    sandbox.connect();
    return sandbox;
  }

  /** Returns the sandbox of a pod; empty if it has ended. */
  Optional<Sandbox> attach(SandboxId id, PodSnapshot pod) {
    if (pod.state() != SandboxState.RUNNING) {
      ended(id, pod);
      return Optional.empty();
    }
    Link known = links.get(id);
    if (known != null
        && known.uid().equals(pod.uid())
        && known.sandbox().state() != SandboxState.DESTROYED) {
      return Optional.of(known.sandbox());
    }
    AgentSandbox sandbox = sandbox(id, pod, new PodExecConnector(cluster, pod.name(), pod.uid()));
    Link link = new Link(sandbox, pod.uid());
    links.put(id, link);
    try {
      sandbox.ping();
      return Optional.of(sandbox);
    } catch (Gone e) {
      detach(id, link);
      return Optional.empty();
    } catch (SandboxException e) {
      detach(id, link);
      throw e;
    }
  }

  private void detach(SandboxId id, Link link) {
    links.remove(id, link);
    link.sandbox().close();
  }

  /** Handles the end of a pod that this process did not destroy. */
  void ended(SandboxId id, PodSnapshot pod) {
    Link link = links.get(id);
    if (link != null && link.uid().equals(pod.uid()) && links.remove(id, link)) {
      String cause = pod.end().orElse("its pod was deleted");
      if (!pod.destroyed()) {
        endedPods.add(id, pod, cause);
      }
      end(link, cause);
    }
  }

  /** Ends the connection to a sandbox that this process destroys. */
  void destroyed(SandboxId id) {
    Link link = links.remove(id);
    if (link != null) {
      end(link, "it was destroyed");
    }
    endedPods.remove(id);
  }

  private static void end(Link link, String cause) {
    link.sandbox().markDestroyed(cause);
    link.sandbox().close();
  }

  private AgentSandbox sandbox(SandboxId id, PodSnapshot pod, AgentConnector connector) {
    ChangeTracking folders =
        new ChangeTracking(
            Optional.empty(),
            List.of(pod.annotations().getOrDefault(PodLabels.FOLDERS, "/workspace")));
    boolean filtered = pod.annotations().containsKey(PodLabels.FILTERED);
    return AgentSandbox.builder(id, connector, key.get().secretOf(id))
        .capabilities(capabilities)
        .changeTracking(() -> Optional.of(folders))
        .filtered(() -> filtered)
        .observedExit(() -> exitCause(pod))
        .commandTimeout(pod.commandTimeout())
        .timeouts(TIMEOUTS)
        .build();
  }

  /** Returns the exit of commands that ended with their pod, if the cluster knows it. */
  private Optional<Exit> exitCause(PodSnapshot pod) {
    try {
      return cluster
          .pod(pod.name(), Cluster.soon())
          .map(PodSnapshot::of)
          .filter(now -> now.uid().equals(pod.uid()) && now.outOfMemory())
          .map(now -> new Exit.OutOfMemory());
    } catch (SandboxException unknown) {
      return Optional.empty();
    }
  }

  @Override
  public void close() {
    links.values().forEach(link -> link.sandbox().close());
    links.clear();
  }
}
