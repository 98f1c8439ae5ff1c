package dev.isola.spi.provider;

import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Volumes;
import dev.isola.spi.spec.SandboxSpec;
import java.util.List;
import java.util.Optional;

/**
 * A backend. All methods block, may be called from any thread, concurrently, also for the same
 * sandbox, and throw only {@link dev.isola.spi.error.SandboxException}.
 */
public interface Provider extends AutoCloseable {

  /** In the context of an error: the longest ttl that the backend allows, in seconds. */
  String MAX_TTL_SECONDS = "maxTtlSeconds";

  /** Describes the provider on this machine. Cheap after the first call. */
  ProviderInfo info();

  /**
   * Tells whether create could work now. Fast, leaves nothing behind. Called every 30 s and by
   * {@code doctor}.
   */
  Health health();

  /**
   * Returns what the machine that runs the sandboxes has, now; empty when the provider cannot tell.
   * Called after health.
   */
  default Optional<HostResources> resources() {
    return Optional.empty();
  }

  /**
   * Makes a running sandbox. Idempotent by {@code spec.id()}: when that sandbox exists already it
   * is returned. When this throws, nothing is left, except after {@link
   * dev.isola.spi.error.OutcomeUnknown}, where {@link #inventory()} tells.
   *
   * @throws dev.isola.spi.error.Unsupported when the spec asks for something the provider does not
   *     do
   * @throws dev.isola.spi.error.InvalidRequest with {@link #MAX_TTL_SECONDS} in its context when
   *     the backend refuses so long a ttl
   * @throws dev.isola.spi.error.ProviderUnavailable when the backend fails
   * @throws dev.isola.spi.error.DeadlineExceeded when it takes longer than the spec's startup
   *     timeout
   */
  Sandbox create(SandboxSpec spec);

  /**
   * Finds a sandbox that an earlier process made, and connects to it. Empty when it does not exist
   * (any more).
   */
  Optional<Sandbox> attach(SandboxId id);

  /**
   * Returns the digest of the image that a sandbox of this spec would be made from now. Two
   * sandboxes of one spec are the same only as long as it does not change. Empty when the provider
   * has no images, or cannot tell without fetching one. Called before a warm sandbox is handed out.
   */
  default Optional<String> imageDigest(SandboxSpec spec) {
    return Optional.empty();
  }

  /** Returns the volumes of this provider when it declares {@link Volumes}; empty otherwise. */
  default Optional<Volumes> volumes() {
    return Optional.empty();
  }

  /** Returns everything of this instance that exists at the backend, whatever made it. */
  List<InventoryItem> inventory();

  /**
   * Removes a sandbox and everything of it; returns when nothing is left. Succeeds silently when
   * there is nothing. May be called by expiry, by a person and by recovery at once.
   *
   * @throws dev.isola.spi.error.Conflict with {@code UNSAVED_WORK} when it would lose work and is
   *     not forced
   */
  void destroy(SandboxId id, DestroyOptions how);

  /** Lets go of connections and threads. Sandboxes go on. */
  @Override
  void close();
}
