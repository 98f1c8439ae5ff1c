package dev.isola.link;

import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.Secret;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.EgressAccess;
import dev.isola.spi.capability.GuestProtocolAccess;
import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.capability.Renewing;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.capability.Volumes;
import dev.isola.spi.capability.Watching;
import dev.isola.spi.error.Gone;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.file.FileSystem;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A sandbox reached through its agent. A provider boots the agent, then builds an instance with a
 * connector and the capabilities it declares. The first call connects; after a dropped connection
 * the next call reconnects.
 */
public final class AgentSandbox implements Sandbox, AutoCloseable {
  private final AgentClient client;
  private final AgentExecutions executions;
  private final AgentFiles files;
  private final UsageReporting usage;
  private final Supplier<Optional<ChangeTracking>> changeTracking;
  private final UnaryOperator<Snapshotting> snapshotting;
  private final UnaryOperator<Renewing> renewing;
  private final Map<Class<? extends Capability>, Capability> capabilities;
  private final AgentEgress egress;
  private final BooleanSupplier filtered;

  private AgentSandbox(Builder builder) {
    client =
        new AgentClient(
            builder.id, builder.endpoint, builder.secret, builder.timeouts, builder.observedExit);
    executions = new AgentExecutions(client, builder.timeout);
    files = new AgentFiles(client);
    usage = builder.usage.apply(this::usage);
    changeTracking = builder.changeTracking;
    snapshotting = builder.snapshotting;
    renewing = builder.renewing;
    egress = new AgentEgress(client);
    filtered = builder.filtered;
    capabilities = capabilities(builder.declared, builder.providerCapabilities);
  }

  /**
   * Returns a builder.
   *
   * @param secret from the agent's boot record
   */
  public static Builder builder(SandboxId id, AgentEndpoint endpoint, Secret secret) {
    return new Builder(id, endpoint, secret);
  }

  @Override
  public SandboxId id() {
    return client.id();
  }

  @Override
  public SandboxState state() {
    return client.goneReason().isPresent() ? SandboxState.DESTROYED : client.state();
  }

  @Override
  public Execution start(Command command) {
    return executions.start(command);
  }

  @Override
  public FileSystem files() {
    return files;
  }

  @Override
  public <C extends Capability> Optional<C> as(Class<C> capability) {
    return Optional.ofNullable(capabilities.get(capability)).map(capability::cast);
  }

  @Override
  public Optional<EgressAccess> egress() {
    return filtered.getAsBoolean() ? Optional.of(egress) : Optional.empty();
  }

  @Override
  public Optional<GuestProtocolAccess> guestProtocol() {
    return Optional.of(peerSecret -> PeerSession.open(client, peerSecret));
  }

  /**
   * Connects if there is no connection. The handshake authenticates both ends, so no further
   * request is needed to know that the agent works.
   *
   * @throws dev.isola.spi.error.SandboxException when no connection can be established
   */
  public void connect() {
    client.connection();
  }

  /**
   * Connects if there is no connection, and returns the round-trip time to the agent.
   *
   * @throws dev.isola.spi.error.SandboxException when the agent does not answer in time
   */
  public Duration ping() {
    return client.connection().ping(client.timeouts().keepaliveTimeout());
  }

  /** Kills every process except the agent. Returns when none is left. */
  public void killAll() {
    WireFieldsBuilder request = new WireFieldsBuilder(AgentOperation.KILL_ALL);
    client.call(AgentOperation.KILL_ALL, request, client.timeouts().responseTimeout());
  }

  /**
   * Makes the agent kill every process and exit. The sandbox counts as destroyed afterwards. Does
   * nothing when it is gone.
   */
  public void shutdown() {
    try {
      WireFieldsBuilder request = new WireFieldsBuilder(AgentOperation.SHUTDOWN);
      client.callUninterrupted(
          AgentOperation.SHUTDOWN, request, client.timeouts().responseTimeout());
    } catch (Gone alreadyGone) {
      // Already in the requested state.
    }
    markDestroyed("it was shut down");
  }

  /**
   * Makes the agent kill every process and exit, but keeps the sandbox: it is stopped until {@link
   * #setState} marks it as running again.
   */
  public void stop() {
    stop(client.timeouts().responseTimeout());
  }

  /**
   * Stops it in the same way.
   *
   * @param timeout how long to wait for the reply, which may travel through a process that ends
   *     with the sandbox
   */
  public void stop(Duration timeout) {
    AgentConnection connection = client.connection();
    client.setState(
        SandboxState
            .STOPPED); // first, so that the agent's exit does not count as the end of the sandbox
    try {
      connection
          .request(AgentOperation.SHUTDOWN, new WireFieldsBuilder(AgentOperation.SHUTDOWN), 0)
          .awaitEnd(timeout);
    } catch (SandboxException silent) {
      // The provider terminates an agent that does not answer.
    }
  }

  /**
   * Freezes all commands and makes the agent hang up, so that a runtime can save the sandbox.
   *
   * @param timeout when the agent continues the commands by itself, in case the server dies; the
   *     init of a virtual machine does not
   * @throws dev.isola.spi.error.Conflict if a file operation does not end in time
   * @throws dev.isola.spi.error.Unsupported if the agent cannot know whether it is a copy
   */
  public SandboxHold hold(Duration timeout) {
    return SandboxHold.begin(client, client.endpoint(), timeout);
  }

  /** Continues the commands of a sandbox that was restored from a saved one. */
  public KernelEvidence release() {
    return HeldAgent.release(client);
  }

  /** Continues the commands of a sandbox whose server died while it was held. */
  public void releaseIfHeld() {
    try {
      KernelEvidence continued = release();
      assert continued != null;
    } catch (NotFound notHeld) {
      // As expected of almost all sandboxes.
    }
  }

  /** Makes every further call throw {@link Gone} and wakes all waiting callers. */
  public void markDestroyed(String reason) {
    client.markGone(reason);
  }

  /**
   * Records that the provider froze, stopped or resumed the sandbox. While it does not run, every
   * call fails with a conflict.
   */
  public void setState(SandboxState now) {
    client.setState(now);
  }

  /**
   * Makes the agent listen on {@code port} of the sandbox's loopback interface. Each accepted
   * connection is passed to {@code handler} on its own virtual thread, at most 256 at once, and is
   * closed when the handler returns. Closing the result stops listening.
   */
  public AutoCloseable relay(int port, Consumer<PortDialing.Connection> handler) {
    return AgentRelay.open(client, port, handler);
  }

  /** Closes the connection; the sandbox keeps running. */
  @Override
  public void close() {
    client.close();
  }

  /** Returns the client of this sandbox, for tests. */
  AgentClient client() {
    return client;
  }

  @Override
  public String toString() {
    return "sandbox " + id();
  }

  private Map<Class<? extends Capability>, Capability> capabilities(
      Set<Class<? extends Capability>> declared,
      Map<Class<? extends Capability>, Capability> providerCapabilities) {
    Map<Class<? extends Capability>, Capability> found = new HashMap<>(providerCapabilities);
    for (Class<? extends Capability> type : declared) {
      Capability capability = found.computeIfAbsent(type, this::agentCapability);
      if (!type.isInstance(capability)) {
        throw new IllegalArgumentException(
            "capability is declared, but neither the provider nor the agent implements it: "
                + Capability.idOf(type));
      }
    }
    return Map.copyOf(found);
  }

  private @Nullable Capability agentCapability(Class<? extends Capability> type) {
    if (type == Attaching.class) {
      return executions;
    } else if (type == Terminals.class) {
      return (Terminals) executions::open;
    } else if (type == Watching.class) {
      return (Watching) (path, recursive) -> AgentWatch.open(client, path, recursive);
    } else if (type == PortDialing.class) {
      return (PortDialing) port -> AgentPort.dial(client, port);
    } else if (type == UsageReporting.class) {
      return usage;
    } else if (type == Renewing.class) {
      return renewing.apply(this::renew);
    } else if (type == Snapshotting.class) {
      return snapshotting.apply(new AgentSnapshotting(client, files, changeTracking));
    }
    return null;
  }

  private UsageReporting.Usage usage() {
    WireFieldsBuilder request =
        new WireFieldsBuilder(AgentOperation.USAGE).add(FieldTag.FLAGS, Wire.USAGE_DISK);
    LinkStream stream = client.open(AgentOperation.USAGE, request, 0);
    WireFields fields = stream.awaitEnd(client.timeouts().responseTimeout());
    try {
      return new UsageReporting.Usage(
          Duration.ofNanos(fields.count(FieldTag.CPU_NS, 0)),
          fields.count(FieldTag.MEMORY, 0),
          fields.count(FieldTag.MEMORY_PEAK, 0),
          disk(fields),
          fields.optionalNumber(FieldTag.RX),
          fields.optionalNumber(FieldTag.TX),
          fields.has(FieldTag.PROCESSES)
              ? fields.range(FieldTag.PROCESSES, 0, Integer.MAX_VALUE)
              : 0,
          Duration.ofMillis(fields.count(FieldTag.UPTIME_MS, 0)));
    } catch (ProtocolViolation e) {
      throw stream.protocolViolation(e.getMessage());
    }
  }

  /** An incomplete count is not a measurement. */
  private static OptionalLong disk(WireFields fields) {
    return fields.number(FieldTag.DISK_PARTIAL, 0) != 0
        ? OptionalLong.empty()
        : fields.optionalNumber(FieldTag.DISK);
  }

  private void renew(Duration fromNow) {
    WireFieldsBuilder request =
        new WireFieldsBuilder(AgentOperation.DEADLINE)
            .add(FieldTag.TIMEOUT_MS, Math.max(1, fromNow.toMillis()));
    client.call(AgentOperation.DEADLINE, request, client.timeouts().responseTimeout());
  }

  /** Builds a sandbox. */
  public static final class Builder {
    private final SandboxId id;
    private final AgentEndpoint endpoint;
    private final Secret secret;
    private Set<Class<? extends Capability>> declared = Set.of();
    private Map<Class<? extends Capability>, Capability> providerCapabilities = Map.of();
    private UnaryOperator<UsageReporting> usage = UnaryOperator.identity();
    private Supplier<Optional<ChangeTracking>> changeTracking = Optional::empty;
    private UnaryOperator<Snapshotting> snapshotting = UnaryOperator.identity();
    private UnaryOperator<Renewing> renewing = UnaryOperator.identity();
    private BooleanSupplier filtered = () -> false;
    private Optional<Duration> timeout = Optional.empty();
    private LinkTimeouts timeouts = LinkTimeouts.DEFAULT;
    private Supplier<Optional<Exit>> observedExit = Optional::empty;

    private Builder(SandboxId id, AgentEndpoint endpoint, Secret secret) {
      this.id = id;
      this.endpoint = endpoint;
      this.secret = secret;
    }

    /**
     * Sets the capabilities of the agent that the provider declares; those that the provider
     * implements need not be among them.
     */
    public Builder capabilities(Set<Class<? extends Capability>> types) {
      Set<Class<? extends Capability>> sandboxCapabilities = new HashSet<>(types);
      sandboxCapabilities.remove(Volumes.class); // a capability of the provider, not of a sandbox
      declared = Set.copyOf(sandboxCapabilities);
      return this;
    }

    /** Adds capabilities implemented by the provider; they replace those of the agent. */
    public Builder providerCapabilities(Map<Class<? extends Capability>, Capability> capabilities) {
      providerCapabilities = Map.copyOf(capabilities);
      return this;
    }

    /** Sets a decorator that corrects the agent's measurements by those of the host. */
    public Builder usageDecorator(UnaryOperator<UsageReporting> correction) {
      usage = correction;
      return this;
    }

    /** Sets how the agent finds the files that the sandbox changed; evaluated for each capture. */
    public Builder changeTracking(Supplier<Optional<ChangeTracking>> files) {
      changeTracking = files;
      return this;
    }

    /** Sets a decorator by which the provider completes the agent's captures. */
    public Builder snapshottingDecorator(UnaryOperator<Snapshotting> completion) {
      snapshotting = completion;
      return this;
    }

    /** Sets a decorator by which the provider renews a deadline of its own, too. */
    public Builder renewingDecorator(UnaryOperator<Renewing> completion) {
      renewing = completion;
      return this;
    }

    /** Sets whether the network mode of the sandbox is filtered; evaluated for each call. */
    public Builder filtered(BooleanSupplier isFiltered) {
      filtered = isFiltered;
      return this;
    }

    /** Sets the timeout of commands without one. */
    public Builder commandTimeout(Optional<Duration> limit) {
      timeout = limit;
      return this;
    }

    /**
     * Sets the source of the exit of commands whose sandbox ended without reporting one; when it is
     * empty, they are lost.
     */
    public Builder observedExit(Supplier<Optional<Exit>> exit) {
      observedExit = exit;
      return this;
    }

    public Builder timeouts(LinkTimeouts newTimeouts) {
      timeouts = newTimeouts;
      return this;
    }

    /**
     * Builds the sandbox without connecting.
     *
     * @throws IllegalArgumentException when a declared capability has no implementation
     */
    public AgentSandbox build() {
      return new AgentSandbox(this);
    }
  }
}
