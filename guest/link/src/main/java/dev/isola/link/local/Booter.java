package dev.isola.link.local;

import dev.isola.link.ChangeTracking;
import dev.isola.spi.Health;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.capability.Volumes;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The part of a local provider that is its own: how a sandbox is booted. */
public interface Booter extends AutoCloseable {

  /**
   * What is to be booted. The intent is written down and the folder exists.
   *
   * @param layers the files its workspace begins with, as {@link FrozenLayers} names them
   * @param patience how long it may take
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
   * The files of a workspace at one moment.
   *
   * @param layers none of which is written again, the topmost first
   * @param holder who keeps them until {@link #releaseLayers}
   * @param held for how long the sandbox stood still
   */
  record FrozenLayers(List<String> layers, String leaseId, Duration pausedFor) {
    public FrozenLayers {
      layers = List.copyOf(layers);
    }
  }

  /**
   * What was booted and answers.
   *
   * @param agent the process whose end is the sandbox's
   */
  record BootedSandbox(Sandbox sandbox, SandboxFolder folder, AgentProcess agent) {}

  /** Describes the provider on this machine. Called once. */
  ProviderInfo info();

  /** Returns the capabilities of {@link #info()}, without finding out the rest. */
  Set<Class<? extends Capability>> capabilities();

  /** Tells whether a sandbox could be booted now. Fast, leaves nothing behind. */
  Health health();

  /**
   * Refuses a spec that asks only for what is declared and still cannot be honoured, by name,
   * before anything is made: a folder of the host that is not there, an image that is not there.
   *
   * @throws dev.isola.spi.error.SandboxException naming what cannot be
   */
  default void validate(SandboxSpec spec) {}

  /** See {@link dev.isola.spi.provider.Provider#imageDigest}. */
  default Optional<String> imageDigest(SandboxSpec spec) {
    return Optional.empty();
  }

  /**
   * Boots a sandbox: starts an agent that listens on {@code folder.socket()} and knows the record's
   * secret. Returns once it listens. When this throws, {@link #release} follows.
   */
  AgentProcess boot(BootRequest booting) throws IOException;

  /**
   * Boots once more what {@link #boot} made and somebody stopped: same files, same secret. Only
   * asked of who declares {@link dev.isola.spi.capability.Pausing}.
   */
  default AgentProcess restart(SandboxId id, SandboxFolder folder, Duration patience)
      throws IOException {
    throw new IOException("sandbox " + id + " cannot be booted again");
  }

  /**
   * Makes sure that a sandbox that runs is what was asked for. Called each time it was booted.
   *
   * @throws dev.isola.spi.error.SandboxException when it is not; it is destroyed then
   */
  default void verify(BootedSandbox booted) {}

  /**
   * Tells how the commands of a sandbox ended that is gone without a word; empty where the host
   * does not know either.
   */
  default Optional<Exit> observedExit(SandboxId id) {
    return Optional.empty();
  }

  /** Returns how to freeze a sandbox in memory; empty where that cannot be had. */
  default Optional<SandboxFreezer> freezer(SandboxId id) {
    return Optional.empty();
  }

  /** Corrects what the agent measures by what the host knows of a sandbox. */
  default UsageReporting adjustUsage(SandboxId id, UsageReporting agent) {
    return agent;
  }

  /**
   * Tells where the agent of a sandbox finds what the sandbox wrote; empty where only folders can
   * be taken. Only asked of a booter that declares {@link dev.isola.spi.capability.Snapshotting}.
   */
  default Optional<ChangeTracking> changeTracking(SandboxId id, SandboxFolder folder) {
    return Optional.empty();
  }

  /**
   * Keeps the files of a workspace as they are now. Only asked of who declares {@link
   * dev.isola.spi.capability.Forking}.
   *
   * @throws dev.isola.spi.error.Conflict when somebody in it uses them, naming who
   */
  default FrozenLayers freezeLayers(SandboxId id, SandboxFolder folder, AgentProcess agent)
      throws IOException {
    throw new IOException("the workspace of sandbox " + id + " cannot be shared");
  }

  /**
   * Brings to an end what a process left that was killed while it worked on a sandbox that runs.
   * Called before somebody attaches to it; fast when there is nothing.
   */
  default void recover(SandboxId id, SandboxFolder folder) throws IOException {}

  /** Says that no more sandboxes begin with these files. */
  default void releaseLayers(FrozenLayers frozen) throws IOException {}

  /** See {@link dev.isola.spi.provider.Provider#volumes}. */
  default Optional<Volumes> volumes() {
    return Optional.empty();
  }

  /**
   * Gives back what booting took besides processes and the folder (mounts, cgroups, networks).
   * Called when no process of the sandbox is left; may be repeated, also by another process, and
   * for a sandbox whose boot failed half-way.
   */
  void release(SandboxId id, SandboxFolder folder) throws IOException;

  /** Lets go of what boots need; what runs goes on. */
  @Override
  default void close() {}
}
