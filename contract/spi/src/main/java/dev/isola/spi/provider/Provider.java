package dev.isola.spi.provider;

import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Forking.ForkPoint;
import dev.isola.spi.capability.MemoryForking;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Volumes;
import dev.isola.spi.spec.SandboxSpec;
import java.io.InputStream;
import java.util.List;
import java.util.Optional;

/**
 * A backend that creates sandboxes. All methods block. They may be called concurrently from any
 * thread, even for the same sandbox, and throw only {@link dev.isola.spi.error.SandboxException}.
 */
public interface Provider extends AutoCloseable {

  /** Key in the context of an error: the longest TTL that the backend allows, in seconds. */
  String MAX_TTL_SECONDS = "maxTtlSeconds";

  /** Describes what the provider can do on this machine. Cheap after the first call. */
  ProviderInfo info();

  /**
   * Checks whether a create would work now. Must be fast and leave nothing behind. The engine calls
   * it every 30 seconds; {@code isola doctor} calls it as well.
   */
  Health health();

  /**
   * Returns the current resources of the machine that runs the sandboxes, or empty if unknown.
   * Called after {@link #health()}.
   */
  default Optional<HostResources> resources() {
    return Optional.empty();
  }

  /**
   * Creates a sandbox and returns it running. Idempotent by {@code spec.id()}: if the sandbox
   * exists, it is returned. If this method throws, no resource is left behind, except after {@link
   * dev.isola.spi.error.OutcomeUnknown}, when {@link #inventory()} tells what exists.
   *
   * @throws dev.isola.spi.error.Unsupported if the spec requests a feature that the provider does
   *     not have
   * @throws dev.isola.spi.error.InvalidRequest with {@link #MAX_TTL_SECONDS} in its context if the
   *     backend does not allow so long a TTL
   * @throws dev.isola.spi.error.ProviderUnavailable if the backend fails
   * @throws dev.isola.spi.error.DeadlineExceeded if the create takes longer than the startup
   *     timeout of the spec
   */
  Sandbox create(SandboxSpec spec);

  /**
   * Connects to a sandbox that another process created, for example the server before a restart.
   * Returns empty if the sandbox does not exist.
   */
  Optional<Sandbox> attach(SandboxId id);

  /**
   * Returns the digest of the image that {@link #create} would use for this spec now. While the
   * digest is the same, sandboxes of the same spec are interchangeable. Empty if the provider has
   * no images or cannot tell without pulling one. The engine calls it before it takes a sandbox
   * from a warm pool.
   */
  default Optional<String> imageDigest(SandboxSpec spec) {
    return Optional.empty();
  }

  /** Returns the volumes of this provider if it declares {@link Volumes}, otherwise empty. */
  default Optional<Volumes> volumes() {
    return Optional.empty();
  }

  /**
   * Opens a fork point that was stored. Sandboxes created from it continue the stored processes.
   *
   * @param archive {@link dev.isola.spi.capability.MemoryForking.MemoryForkPoint#archive}
   * @throws dev.isola.spi.error.Unsupported if the provider does not declare {@link MemoryForking}
   * @throws dev.isola.spi.error.InvalidRequest if the archive is damaged
   */
  default ForkPoint openForkPoint(InputStream archive) {
    throw Capability.unsupported(info().name(), Capability.idOf(MemoryForking.class));
  }

  /**
   * Returns every resource of this instance that exists at the backend, regardless of which process
   * created it.
   */
  List<InventoryItem> inventory();

  /**
   * Destroys a sandbox with all its resources; returns when nothing is left. Does nothing if the
   * sandbox does not exist. The expiry timer, a client and recovery may call it at the same time.
   *
   * @throws dev.isola.spi.error.Conflict with {@code UNSAVED_WORK} if work would be lost and {@code
   *     options} does not force it
   */
  void destroy(SandboxId id, DestroyOptions options);

  /**
   * Removes what this instance has at the backend besides sandboxes and volumes, such as objects
   * that its sandboxes share. {@code isola purge} calls it when all of them are destroyed. A
   * repeated call does nothing.
   */
  default void removeSharedResources() {}

  /** Releases connections and threads. Sandboxes keep running. */
  @Override
  void close();
}
