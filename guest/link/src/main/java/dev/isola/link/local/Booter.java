package dev.isola.link.local;

import dev.isola.link.AgentEndpoint;
import dev.isola.link.AgentSandbox;
import dev.isola.link.UnixSocketAcceptor;
import dev.isola.spi.Health;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Forking;
import dev.isola.spi.capability.MemoryForking;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Volumes;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * The provider-specific part of a local provider: boots sandboxes. What only some providers can do
 * with a booted sandbox is an object that the booter hands out; the provider declares the
 * capabilities that follow from these objects.
 */
public interface Booter extends AutoCloseable {

  /**
   * A sandbox to boot. Its record is written and its folder exists.
   *
   * @param layers the initial files of its workspace, as in {@link WorkspaceForker.FrozenLayers}
   * @param timeout how long booting may take
   */
  record BootRequest(
      SandboxSpec spec,
      SandboxRecord record,
      SandboxFolder folder,
      List<String> layers,
      Duration timeout) {
    public BootRequest {
      layers = List.copyOf(layers);
    }
  }

  /**
   * A booted sandbox whose agent answers.
   *
   * @param agent the process whose end is the end of the sandbox
   */
  record BootedSandbox(Sandbox sandbox, SandboxFolder folder, AgentProcess agent) {}

  /**
   * Describes the provider on this machine. Called once.
   *
   * @param capabilities the capabilities to declare: those of the agent, and those that follow from
   *     the objects that this booter hands out
   */
  ProviderInfo info(Set<Class<? extends Capability>> capabilities);

  /**
   * Returns the capabilities of the agent that its sandboxes have. Fast; does not probe the
   * machine.
   */
  Set<Class<? extends Capability>> agentCapabilities();

  /** Returns what makes {@link Pausing} to the file system possible. */
  default Optional<SandboxRestarter> restarter() {
    return Optional.empty();
  }

  /** Returns what makes {@link Pausing} in memory possible. */
  default Optional<SandboxFreezer> freezer() {
    return Optional.empty();
  }

  /** Returns what makes {@link Forking} possible. */
  default Optional<WorkspaceForker> forker() {
    return Optional.empty();
  }

  /** Returns what makes {@link MemoryForking} possible. */
  default Optional<MemoryForker> memoryForker() {
    return Optional.empty();
  }

  /** See {@link dev.isola.spi.provider.Provider#volumes}. */
  default Optional<Volumes> volumes() {
    return Optional.empty();
  }

  /** Returns whether a sandbox could be booted now. Fast; leaves nothing behind. */
  Health health();

  /**
   * Rejects a spec that requests declared features only but still cannot be honoured, before
   * anything is created: for example a missing folder of the host or a missing image.
   *
   * @throws dev.isola.spi.error.SandboxException naming what is missing
   */
  default void validate(SandboxSpec spec) {}

  /** See {@link dev.isola.spi.provider.Provider#imageDigest}. */
  default Optional<String> imageDigest(SandboxSpec spec) {
    return Optional.empty();
  }

  /**
   * Returns how the server and the agent of a sandbox find each other; by default the agent dials
   * {@code folder.socket()}. The socket exists from now on, so this is called before {@link #boot}
   * and when the server attaches to the sandbox.
   *
   * @param alive reports whether the agent's process exists
   */
  default AgentEndpoint endpoint(SandboxId id, SandboxFolder folder, BooleanSupplier alive)
      throws IOException {
    return UnixSocketAcceptor.bind(folder.socket(), Booter::restrictToOwner, alive);
  }

  private static void restrictToOwner(Path socket) throws IOException {
    Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rw-------"));
  }

  /**
   * Boots a sandbox: starts an agent that has the record's secret and uses the {@link #endpoint}.
   * Returns once it is ready. When this throws, {@link #release} is called.
   */
  AgentProcess boot(BootRequest request) throws IOException;

  /**
   * Adds what the host knows about a sandbox to what its agent reports: whether its network is
   * filtered, which files it changed, its usage, how it ended. Called before the sandbox boots.
   */
  default void configure(SandboxId id, SandboxFolder folder, AgentSandbox.Builder sandbox) {}

  /**
   * Verifies that a running sandbox matches its spec. Called after each boot.
   *
   * @throws dev.isola.spi.error.SandboxException when it does not; the sandbox is destroyed then
   */
  default void verify(BootedSandbox booted) {}

  /**
   * Completes an operation on a running sandbox that was interrupted by the death of the server
   * process. Called before the server attaches; fast when there is nothing to do.
   */
  default void recover(SandboxId id, SandboxFolder folder) throws IOException {}

  /**
   * Releases what booting acquired besides processes and the folder (mounts, cgroups, networks).
   * Called when no process of the sandbox is left. Idempotent; may be called by another process,
   * and for a sandbox whose boot failed half-way.
   */
  void release(SandboxId id, SandboxFolder folder) throws IOException;

  /** Releases resources for booting; running sandboxes continue. */
  @Override
  default void close() {}
}
