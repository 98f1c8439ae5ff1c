package dev.isola.provider.docker;

import dev.isola.link.AgentConnector;
import dev.isola.link.AgentSandbox;
import dev.isola.link.LinkTimeouts;
import dev.isola.link.UnixSocketConnector;
import dev.isola.link.local.SandboxLocks;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.Gone;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Exit;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/** The agent connections of this process, and what happens to them when a container ends. */
final class AgentLinks implements AutoCloseable {
  /** A busy engine, or one that is removing the container, responds later than a socket. */
  private static final LinkTimeouts EXEC_OPTIONS =
      LinkTimeouts.DEFAULT
          .withConnectTimeout(Duration.ofSeconds(20))
          .withHandshakeTimeout(Duration.ofSeconds(20));

  private final EngineApi engine;
  private final SandboxResources sandboxResources;
  private final SandboxKeys keys;
  private final DockerDescription description;
  private final boolean sockets;
  private final SandboxLocks turns;
  private final Function<SandboxId, Pausing> pausing;
  private final EngineEvents events;
  private final Map<SandboxId, AgentSandbox> attached = new ConcurrentHashMap<>();

  /**
   * @param sockets whether the agents' sockets are on this host
   */
  AgentLinks(
      EngineApi engine,
      SandboxResources sandboxResources,
      SandboxKeys keys,
      DockerDescription description,
      boolean sockets,
      SandboxLocks turns,
      Function<SandboxId, Pausing> pausing) {
    this.engine = engine;
    this.sandboxResources = sandboxResources;
    this.keys = keys;
    this.description = description;
    this.sockets = sockets;
    this.turns = turns;
    this.pausing = pausing;
    this.events =
        new EngineEvents(
            engine, sandboxResources.context().instance(), this::ended, this::checkAttached);
  }

  /** Returns a connection to a sandbox that has just booted. */
  AgentSandbox make(SandboxId id, String container, Optional<Duration> timeout) {
    AgentSandbox sandbox = sandbox(id, container, timeout);
    attached.put(id, sandbox);
    events.follow();
    sandbox.connect();
    return sandbox;
  }

  /** Returns the sandbox of a container; empty if it has ended. */
  Optional<Sandbox> attach(Container container) {
    SandboxId id = container.sandbox().orElseThrow();
    SandboxState now = container.state();
    if (now == SandboxState.ERROR || now == SandboxState.TERMINATING) {
      forget(id, "its container is " + container.status());
      return Optional.empty();
    }
    AgentSandbox before = attached.get(id);
    if (before != null && before.state() != SandboxState.DESTROYED) {
      return Optional.of(before);
    }
    AgentSandbox sandbox = sandbox(id, container.id(), ContainerLabels.timeout(container.labels()));
    sandbox.setState(now);
    attached.put(id, sandbox); // First, so that an end during the wait is noticed.
    events.follow();
    try {
      if (now == SandboxState.RUNNING) {
        sandbox.ping();
      }
      return Optional.of(sandbox);
    } catch (Gone e) {
      detach(id, sandbox);
      return Optional.empty();
    } catch (SandboxException e) {
      detach(id, sandbox);
      throw e;
    }
  }

  private void detach(SandboxId id, AgentSandbox sandbox) {
    attached.remove(id, sandbox);
    sandbox.close();
  }

  /** Handles the end of a container, unless its name marks it as stopped on purpose. */
  private void ended(SandboxId id, String name, String why) {
    AgentSandbox sandbox = attached.get(id);
    boolean stopped = name.endsWith(ContainerLabels.STOPPED) && !why.contains("removed");
    if (sandbox != null && !stopped) {
      attached.remove(id, sandbox);
      sandbox.markDestroyed(why);
      sandbox.close();
    }
  }

  /** Checks all sandboxes after an outage of the engine, whose events were missed. */
  private void checkAttached() {
    Map<SandboxId, Container> there = sandboxResources.containers();
    for (SandboxId id : List.copyOf(attached.keySet())) {
      Container container = there.get(id);
      if (container == null || container.state() == SandboxState.ERROR) {
        // Skips a sandbox that is being created at this moment.
        turns.tryWithLock(
            id,
            () ->
                ended(
                    id,
                    sandboxResources.name(id),
                    "its container ended while the engine was unreachable"));
      }
    }
  }

  void forget(SandboxId id, String why) {
    AgentSandbox before = attached.remove(id);
    if (before != null) {
      before.markDestroyed(why);
      before.close();
    }
  }

  private AgentSandbox sandbox(SandboxId id, String container, Optional<Duration> timeout) {
    return AgentSandbox.builder(id, connector(id, container), keys.agentSecret(id))
        .capabilities(description.capabilities())
        .providerCapabilities(Map.of(Pausing.class, pausing.apply(id)))
        .usageDecorator(agentUsage -> new EngineUsage(engine, container, agentUsage))
        .changeTracking(() -> engine.inspect(container).map(WrittenFilesLabels::read))
        .filtered(() -> isFiltered(container))
        .snapshottingDecorator(agent -> new EngineSnapshotting(engine, container, agent))
        .observedExit(() -> exitCause(container))
        .commandTimeout(timeout)
        .timeouts(sockets ? LinkTimeouts.DEFAULT : EXEC_OPTIONS)
        .build();
  }

  private boolean isFiltered(String container) {
    return engine
        .inspect(container)
        .filter(found -> found.at("Config", "Labels").has(ContainerLabels.FILTERED))
        .isPresent();
  }

  private AgentConnector connector(SandboxId id, String container) {
    return sockets
        ? new UnixSocketConnector(sandboxResources.folder(id).socket())
        : new ExecConnector(engine, container);
  }

  /**
   * Returns the cause if the container has ended. The engine also reports an out-of-memory kill if
   * only a command was killed and the container still runs.
   */
  private Optional<Exit> exitCause(String container) {
    try {
      return engine
          .inspect(container)
          .map(node -> node.at("State"))
          .filter(end -> !end.flag("Running") && end.flag("OOMKilled"))
          .filter(end -> end.number("ExitCode") == 137)
          .map(end -> new Exit.OutOfMemory());
    } catch (SandboxException nobodyToAsk) {
      return Optional.empty();
    }
  }

  AgentSandbox require(SandboxId id) {
    AgentSandbox sandbox = attached.get(id);
    if (sandbox == null || sandbox.state() == SandboxState.DESTROYED) {
      throw gone(id);
    }
    return sandbox;
  }

  static SandboxException gone(SandboxId id) {
    return Fault.of(
            ErrorCode.SANDBOX_DESTROYED, "sandbox " + id + " is gone", "create a new sandbox")
        .sandbox(id)
        .exception();
  }

  @Override
  public void close() {
    events.close();
    attached.values().forEach(AgentSandbox::close);
    attached.clear();
  }
}
