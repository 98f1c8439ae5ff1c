package dev.isola.link.local;

import dev.isola.link.AgentEndpoint;
import dev.isola.link.BootRecord;
import dev.isola.link.ChangeTracking;
import dev.isola.link.UnixSocketAcceptor;
import dev.isola.spi.Health;
import dev.isola.spi.SandboxId;
import dev.isola.spi.Secret;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.capability.Volumes;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;

/** The provider-specific part of a local provider: boots sandboxes. */
public interface Booter extends AutoCloseable {

  /**
   * A sandbox to boot. Its record is written and its folder exists.
   *
   * @param layers the initial files of its workspace, as in {@link FrozenLayers}
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
   * The files of a workspace at one point in time.
   *
   * @param layers read-only layers, topmost first
   * @param leaseId identifies the lease that keeps them until {@link #releaseLayers}
   * @param pausedFor how long the sandbox was frozen
   */
  record FrozenLayers(List<String> layers, String leaseId, Duration pausedFor) {
    public FrozenLayers {
      layers = List.copyOf(layers);
    }
  }

  /**
   * A booted sandbox whose agent answers.
   *
   * @param agent the process whose end is the end of the sandbox
   */
  record BootedSandbox(Sandbox sandbox, SandboxFolder folder, AgentProcess agent) {}

  /** Describes the provider on this machine. Called once. */
  ProviderInfo info();

  /** Returns the capabilities of {@link #info()} without computing the rest. */
  Set<Class<? extends Capability>> capabilities();

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
   * Restarts a stopped sandbox with the same files and the same secret. Called only if the booter
   * declares {@link dev.isola.spi.capability.Pausing}.
   */
  default AgentProcess restart(SandboxId id, SandboxFolder folder, Duration timeout)
      throws IOException {
    throw new IOException("sandbox " + id + " cannot be restarted");
  }

  /**
   * Verifies that a running sandbox matches its spec. Called after each boot.
   *
   * @throws dev.isola.spi.error.SandboxException when it does not; the sandbox is destroyed then
   */
  default void verify(BootedSandbox booted) {}

  /**
   * Returns how the commands of a sandbox ended whose agent is gone without reporting it; empty if
   * the host does not know either.
   */
  default Optional<Exit> observedExit(SandboxId id) {
    return Optional.empty();
  }

  /** Returns the freezer of a sandbox; empty if freezing in memory is unavailable. */
  default Optional<SandboxFreezer> freezer(SandboxId id) {
    return Optional.empty();
  }

  /** Corrects the agent's measurements by what the host knows about the sandbox. */
  default UsageReporting adjustUsage(SandboxId id, UsageReporting agent) {
    return agent;
  }

  /** Returns whether the network mode of a sandbox that was booted is filtered. */
  default boolean isFiltered(SandboxFolder folder) {
    return false;
  }

  /**
   * Returns how the agent finds the files that the sandbox changed; empty when only folders can be
   * captured. Called only if the booter declares {@link dev.isola.spi.capability.Snapshotting}.
   */
  default Optional<ChangeTracking> changeTracking(SandboxId id, SandboxFolder folder) {
    return Optional.empty();
  }

  /**
   * Freezes the current files of a workspace as layers. Called only if the booter declares {@link
   * dev.isola.spi.capability.Forking}.
   *
   * @throws dev.isola.spi.error.Conflict when a process in the sandbox uses them, naming the
   *     process
   */
  default FrozenLayers freezeLayers(SandboxId id, SandboxFolder folder, AgentProcess agent)
      throws IOException {
    throw new IOException("the workspace of sandbox " + id + " cannot be shared");
  }

  /**
   * Completes an operation on a running sandbox that was interrupted by the death of the server
   * process. Called before the server attaches; fast when there is nothing to do.
   */
  default void recover(SandboxId id, SandboxFolder folder) throws IOException {}

  /** Releases layers; no more sandboxes are created from them. */
  default void releaseLayers(FrozenLayers frozen) throws IOException {}

  /**
   * The processes and files of a sandbox at one moment.
   *
   * @param folder where they are
   * @param secret the one that its agent has in memory
   */
  record SavedSandbox(Path folder, Secret secret) {}

  /**
   * A sandbox that continues from a saved one. Its commands are frozen and its agent has the
   * identity of the saved one.
   *
   * @param record the identity to give it
   */
  record RestoredSandbox(AgentProcess agent, BootRecord record) {}

  /**
   * Saves a sandbox that is held. Called only if the booter declares {@link
   * dev.isola.spi.capability.MemoryForking}.
   *
   * @throws dev.isola.spi.error.Conflict when something in it cannot be saved, naming it
   */
  default SavedSandbox save(SandboxRecord record, SandboxFolder folder) throws IOException {
    throw new IOException("the processes of sandbox " + record.id() + " cannot be saved");
  }

  /** Returns a saved sandbox as an archive; called at most once. */
  default InputStream archive(SavedSandbox saved) throws IOException {
    throw new IOException("a saved sandbox cannot be stored");
  }

  /** Restores the result of {@link #archive}. */
  default SavedSandbox open(InputStream archive) throws IOException {
    throw new IOException("a stored sandbox cannot be opened");
  }

  /** Creates a sandbox that continues from a saved one, in the manner of {@link #boot}. */
  default RestoredSandbox restore(BootRequest request, SavedSandbox saved) throws IOException {
    throw new IOException("sandbox " + request.spec().id() + " cannot be restored");
  }

  /** Removes a saved sandbox; no more sandboxes are created from it. */
  default void discard(SavedSandbox saved) throws IOException {}

  /** See {@link dev.isola.spi.provider.Provider#volumes}. */
  default Optional<Volumes> volumes() {
    return Optional.empty();
  }

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
