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
 * A program that isolates a sandbox with a staged root: the part that differs between providers.
 */
public interface Isolator {
  /** Where the launcher stages the root, in a private mount namespace. */
  String STAGED_ROOT = "/tmp/root";

  /**
   * Where the launcher provides the writable layer to a kernel in user space, which would cache
   * {@link #LAYER} and miss later changes.
   */
  String STAGED_LAYER = "/tmp/layer";

  /** The folder inside the sandbox with the socket that the agent dials. */
  String SOCKET_FOLDER = "/.isola/run";

  /**
   * Where the launcher provides the folder of the agent's socket to a kernel in user space, which
   * would not see the socket of the next server in a folder of the root.
   */
  String STAGED_SOCKET = "/tmp/run";

  /** An empty file and an empty folder on the stage, for masking. */
  String STAGED_EMPTY_FILE = "/tmp/empty";

  String STAGED_EMPTY_FOLDER = "/tmp/nothing";

  /** A file on the stage with a boot id, another one at every boot of the sandbox. */
  String STAGED_BOOT_ID = "/tmp/boot_id";

  /** The sandbox's user namespace, for a runtime that enters it by path. */
  String STAGED_USERS = "/tmp/users";

  /** The first descriptor passed to the agent. */
  int FIRST_DESCRIPTOR = 3;

  /** Where the agent finds the writable layer of the sandbox. */
  String LAYER = WritableLayer.INSIDE;

  /**
   * A sandbox that is about to be isolated.
   *
   * @param network the requested mode; with {@code BRIDGE} the sandbox starts without a network and
   *     is attached later
   * @param image whether its root is an image, which is writable, instead of the host's
   * @param agent the command line of the agent
   * @param descriptors the number of descriptors the agent inherits beyond the first three
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
   * A running sandbox.
   *
   * @param agent the process of the host that the sandbox ends with
   * @param network the requested mode
   */
  record RunningSandbox(Sandbox sandbox, AgentProcess agent, NetworkMode network) {}

  /** The properties of a provider that depend on its isolator. */
  record Traits(
      String name, String summary, Isolation isolation, String cleanup, Duration startup) {
    public ProviderProfile profile() {
      return new ProviderProfile(isolation, Hosting.LOCAL, startup);
    }
  }

  Traits traits();

  List<Prerequisite> prerequisites();

  /** Reports whether the isolator works on this host. Fast; leaves nothing behind. */
  Health health();

  /** Returns the kernel that the processes of a sandbox run on. */
  default SandboxKernel kernel() {
    return SandboxKernel.HOST;
  }

  /** Reports whether the isolator works without root. */
  default boolean supportsRootless() {
    return false;
  }

  /**
   * Reports whether an interface added to the network namespace of a running sandbox becomes its
   * network.
   */
  default boolean supportsBridge() {
    return true;
  }

  /**
   * Reports whether the isolator cannot mount the {@link #STAGED_BOOT_ID boot id}, which is then
   * mounted in the running sandbox.
   */
  default boolean refusesBootId() {
    return false;
  }

  /** Returns the capabilities of the agent that do not work with this isolator. */
  default Set<Class<? extends Capability>> unsupportedCapabilities() {
    return Set.of();
  }

  /** Returns how running sandboxes are saved; empty if they cannot be. */
  default Optional<Checkpoints> checkpoints() {
    return Optional.empty();
  }

  /** Adds the last steps of a plan, including {@code run}. */
  void plan(LaunchPlan plan, StagedSandbox staged) throws IOException;

  /**
   * Verifies that a running sandbox is isolated.
   *
   * @throws dev.isola.spi.error.SandboxException if it is not; the caller then destroys the sandbox
   */
  default void verify(RunningSandbox running) {}

  /** Releases resources other than processes and the sandbox's folder. Idempotent. */
  default void release(SandboxId id, SandboxFolder folder) throws IOException {}
}
