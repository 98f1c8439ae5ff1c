package dev.isola.host.launch;

import dev.isola.link.local.AgentProcess;
import dev.isola.link.local.SandboxFolder;
import dev.isola.spi.Health;
import dev.isola.spi.Hosting;
import dev.isola.spi.Isolation;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.provider.Prerequisite;
import dev.isola.spi.provider.ProviderProfile;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A program that isolates a sandbox whose root is staged: the part of a provider that is its own.
 */
public interface Isolator {
  /** Where the launcher stages the root, in a mount namespace of its own. */
  String STAGED_ROOT = "/tmp/root";

  /**
   * Where the launcher shows what the sandbox wrote, for who has its own kernel: that kernel would
   * believe what it saw last of {@link #LAYER} and not notice what was written elsewhere.
   */
  String STAGED_LAYER = "/tmp/layer";

  /** An empty file and an empty folder that the launcher stages, to cover something with. */
  String STAGED_EMPTY_FILE = "/tmp/empty";

  String STAGED_EMPTY_FOLDER = "/tmp/nothing";

  /** The sandbox's user namespace, for a runtime that enters it by its path. */
  String STAGED_USERS = "/tmp/users";

  /** The first descriptor that is handed over to the agent. */
  int FIRST_DESCRIPTOR = 3;

  /** Where the agent looks at what the sandbox wrote. */
  String LAYER = WritableLayer.INSIDE;

  /**
   * A sandbox about to be isolated.
   *
   * @param network what it is to have; {@code BRIDGE} starts with none and gets its own later
   * @param image whether it stands on an image, whose root it may write to
   * @param agent the words that start the agent inside
   * @param descriptors how many the agent inherits beyond the first three
   */
  record StagedSandbox(
      SandboxSpec spec,
      SandboxFolder folder,
      SandboxUserIds users,
      NetworkMode network,
      boolean image,
      List<String> agent,
      int descriptors) {}

  /**
   * A sandbox that was isolated and runs.
   *
   * @param agent the process of the host whose end is the sandbox's
   * @param network what it was to have
   */
  record RunningSandbox(Sandbox sandbox, AgentProcess agent, NetworkMode network) {}

  /** What a provider says of itself that depends on the isolator. */
  record Traits(
      String name, String summary, Isolation isolation, String cleanup, Duration startup) {
    public ProviderProfile profile() {
      return new ProviderProfile(isolation, Hosting.LOCAL, startup);
    }
  }

  Traits traits();

  List<Prerequisite> prerequisites();

  /** Tells whether it could isolate something now. Fast, leaves nothing behind. */
  Health health();

  /**
   * Returns the folder inside in which the agent is to make its socket, for who cannot hand over
   * one that listens already.
   */
  default Optional<String> socketFolder() {
    return Optional.empty();
  }

  /**
   * Tells whether the host sees the sandbox as one program that is a kernel to what runs in it. The
   * host cannot count the processes of such a sandbox, and when memory runs out all of it ends.
   */
  default boolean hasOwnKernel() {
    return false;
  }

  /** Tells whether a user other than root can isolate by it, too. */
  default boolean supportsRootless() {
    return false;
  }

  /** Tells whether what is put into the network namespace of a sandbox that runs is its network. */
  default boolean supportsBridge() {
    return true;
  }

  /** Returns the capabilities of an agent that it cannot have when isolated by this. */
  default Set<Class<? extends Capability>> unsupportedCapabilities() {
    return Set.of();
  }

  /** Adds the last steps of a plan, {@code run} among them. */
  void plan(LaunchPlan plan, StagedSandbox staged) throws IOException;

  /**
   * Makes sure that a sandbox that runs is isolated as promised.
   *
   * @throws dev.isola.spi.error.SandboxException when it is not; the sandbox is destroyed then
   */
  default void verify(RunningSandbox running) {}

  /** Gives back what it took besides processes and the folder. May be repeated. */
  default void release(SandboxId id, SandboxFolder folder) throws IOException {}
}
