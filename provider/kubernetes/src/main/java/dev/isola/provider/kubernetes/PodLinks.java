package dev.isola.provider.kubernetes;

import dev.isola.link.AgentConnector;
import dev.isola.link.AgentSandbox;
import dev.isola.link.ChangeTracking;
import dev.isola.link.InstallationKey;
import dev.isola.link.LinkTimeouts;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.Gone;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Exit;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;

/** The agent connections of this process, and what happens to them when a pod ends. */
final class PodLinks implements AutoCloseable {
  /** An exec of a busy cluster takes longer than a socket. */
  private static final LinkTimeouts TIMEOUTS =
      LinkTimeouts.DEFAULT
          .withConnectTimeout(Duration.ofSeconds(20))
          .withHandshakeTimeout(Duration.ofSeconds(20));

  private static final AgentConnector NO_POD =
      timeout -> {
        throw new IOException("it has no pod");
      };

  private record Link(AgentSandbox sandbox, PodConnector connector) {
    boolean isTo(String uid) {
      return connector.uid().equals(uid);
    }
  }

  private final Cluster cluster;
  private final Supplier<InstallationKey> key;
  private final Set<Class<? extends Capability>> capabilities;
  private final Optional<WorkspaceClaims> claims;
  private final Function<SandboxId, Pausing> pausing;
  private final EndedPods endedPods;
  private final Map<SandboxId, Link> links = new ConcurrentHashMap<>();

  PodLinks(
      Cluster cluster,
      Supplier<InstallationKey> key,
      Set<Class<? extends Capability>> capabilities,
      Optional<WorkspaceClaims> claims,
      Function<SandboxId, Pausing> pausing,
      EndedPods endedPods) {
    this.cluster = cluster;
    this.key = key;
    this.capabilities = capabilities;
    this.claims = claims;
    this.pausing = pausing;
    this.endedPods = endedPods;
  }

  /** Returns a connection to a sandbox that has just booted. */
  AgentSandbox open(SandboxId id, PodStart.Started started) {
    PodConnector connector = new PodConnector(started.connector(), started.pod().uid());
    AgentSandbox sandbox = sandbox(id, started.pod(), connector);
    endedPods.remove(id);
    links.put(id, new Link(sandbox, connector));
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
        && known.isTo(pod.uid())
        && known.sandbox().state() != SandboxState.DESTROYED) {
      return Optional.of(known.sandbox());
    }
    PodConnector connector = new PodConnector(connector(pod), pod.uid());
    AgentSandbox sandbox = sandbox(id, pod, connector);
    Link link = new Link(sandbox, connector);
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

  private AgentConnector connector(PodSnapshot pod) {
    return new PodExecConnector(cluster, pod.name(), pod.uid());
  }

  /** Returns a sandbox whose pod was removed by a pause. */
  Sandbox attachStopped(SandboxId id, PodSnapshot recorded) {
    Link known = links.get(id);
    if (known != null && known.sandbox().state() != SandboxState.DESTROYED) {
      stopped(known);
      return known.sandbox();
    }
    PodConnector connector = new PodConnector(NO_POD, "");
    AgentSandbox sandbox = sandbox(id, recorded, connector);
    sandbox.setState(SandboxState.STOPPED);
    endedPods.remove(id);
    links.put(id, new Link(sandbox, connector));
    return sandbox;
  }

  /** Records that a sandbox is stopped: the end of its pod is not its end. */
  void stopped(SandboxId id) {
    Link link = links.get(id);
    if (link != null) {
      stopped(link);
    }
  }

  /** Stops the agent of a sandbox, and records that it is stopped. */
  void stopped(SandboxId id, Duration timeout) {
    Link link = Optional.ofNullable(links.get(id)).orElseThrow(() -> gone(id));
    try {
      link.sandbox().stop(timeout);
    } catch (SandboxException unreachable) {
      // The node ends an agent that does not respond.
    }
    stopped(link);
  }

  private static void stopped(Link link) {
    link.connector().use(NO_POD, "");
    link.sandbox().setState(SandboxState.STOPPED);
  }

  /** Connects a stopped sandbox to the pod in which it was started again. */
  AgentSandbox resumed(SandboxId id, PodStart.Started started) {
    Link link = Optional.ofNullable(links.get(id)).orElseThrow(() -> gone(id));
    link.connector().use(started.connector(), started.pod().uid());
    link.sandbox().setState(SandboxState.RUNNING);
    link.sandbox().connect();
    return link.sandbox();
  }

  /** Connects a sandbox to a pod that another process started, unless it is connected to it. */
  void resumed(SandboxId id, PodSnapshot pod) {
    if (!Optional.ofNullable(links.get(id)).orElseThrow(() -> gone(id)).isTo(pod.uid())) {
      resumed(id, new PodStart.Started(pod, connector(pod))).ping();
    }
  }

  /**
   * Returns the sandbox that this process knows.
   *
   * @throws Gone if there is none
   */
  AgentSandbox require(SandboxId id) {
    Link link = links.get(id);
    if (link == null || link.sandbox().state() == SandboxState.DESTROYED) {
      throw gone(id);
    }
    return link.sandbox();
  }

  static SandboxException gone(SandboxId id) {
    return Fault.of(
            ErrorCode.SANDBOX_DESTROYED, "sandbox " + id + " is gone", "create a new sandbox")
        .sandbox(id)
        .exception();
  }

  private void detach(SandboxId id, Link link) {
    links.remove(id, link);
    link.sandbox().close();
  }

  /** Handles the end of a pod that this process did not destroy. */
  void ended(SandboxId id, PodSnapshot pod) {
    Link link = links.get(id);
    if (link == null || !link.isTo(pod.uid())) {
      return;
    }
    if (link.sandbox().state() == SandboxState.STOPPED || isStopped(id, pod)) {
      stopped(link);
    } else if (links.remove(id, link)) {
      String cause = pod.end().orElse("its pod was deleted");
      if (!pod.destroyed()) {
        endedPods.add(id, pod, cause);
      }
      end(link, cause);
    }
  }

  /** Tells whether another process paused the sandbox of a pod. */
  private boolean isStopped(SandboxId id, PodSnapshot pod) {
    try {
      return claims
          .flatMap(all -> all.stoppedPod(id))
          .filter(uid -> uid.equals(pod.uid()))
          .isPresent();
    } catch (SandboxException unknown) {
      return false;
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

  private AgentSandbox sandbox(SandboxId id, PodSnapshot pod, PodConnector connector) {
    List<String> folders = List.of(pod.annotations().getOrDefault(PodLabels.FOLDERS, "/workspace"));
    boolean filtered = pod.annotations().containsKey(PodLabels.FILTERED);
    return AgentSandbox.builder(id, connector, key.get().secretOf(id))
        .capabilities(capabilities)
        .providerCapabilities(
            claims.isPresent() ? Map.of(Pausing.class, pausing.apply(id)) : Map.of())
        .changeTracking(() -> Optional.of(new ChangeTracking(changes(pod.name()), folders)))
        .snapshottingDecorator(agent -> new FolderSnapshotting(agent, folders))
        .filtered(() -> filtered)
        .observedExit(() -> exitCause(pod.name(), connector.uid()))
        .commandTimeout(pod.commandTimeout())
        .timeouts(TIMEOUTS)
        .build();
  }

  /** Returns how to find what changed outside of the workspace; only a pause needs it. */
  private Optional<ChangeTracking.ImageDiff> changes(String pod) {
    return claims.isEmpty()
        ? Optional.empty()
        : cluster
            .pod(pod, Cluster.soon())
            .map(found -> new ChangeTracking.TimestampDiff(PodSnapshot.before(found), pod));
  }

  /** Returns the exit of commands that ended with their pod, if the cluster knows it. */
  private Optional<Exit> exitCause(String pod, String uid) {
    try {
      return cluster
          .pod(pod, Cluster.soon())
          .map(PodSnapshot::of)
          .filter(now -> now.uid().equals(uid) && now.outOfMemory())
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
