package dev.isola.engine.volume;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.lifecycle.InternalSandboxes;
import dev.isola.engine.lifecycle.SandboxRequest;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.Gone;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.FileUser;
import dev.isola.spi.spec.Network;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import dev.isola.store.VolumeEntry;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Helper sandboxes: the files of a volume lie where only the provider's sandboxes see them, so they
 * are reached through one that the engine makes, without a network. It is used again until it has
 * been idle for a while.
 */
final class VolumeHelpers {
  private static final Duration IDLE = Duration.ofSeconds(30);

  /** Long enough for a large file at a slow client. */
  private static final Duration LONGEST = Duration.ofHours(1);

  private static final Duration REPLACED_AFTER = Duration.ofMinutes(30);

  /** At once: a client that only reads must not fill the machine with sandboxes. */
  private static final int MOST = 32;

  private static final String ROOT = "root";
  private static final SecureRandom RANDOM = new SecureRandom();

  private final InternalSandboxes sandboxes;
  private final VolumeMounts mounts;
  private final Map<Key, HelperSandbox> helpers = new ConcurrentHashMap<>();

  private record Key(String volume, HelperProfile profile) {}

  /**
   * @param created and when it was used last, as the JVM counts time
   */
  private record HelperSandbox(SandboxId id, long created, long used) {
    boolean isOld() {
      return System.nanoTime() - created > REPLACED_AFTER.toNanos();
    }

    boolean isIdle() {
      return System.nanoTime() - used > 2 * IDLE.toNanos();
    }

    HelperSandbox usedNow() {
      return new HelperSandbox(id, created, System.nanoTime());
    }
  }

  VolumeHelpers(InternalSandboxes sandboxes, VolumeMounts mounts) {
    this.sandboxes = sandboxes;
    this.mounts = mounts;
  }

  /** Returns the files of a volume; the caller holds the volume's lock. */
  VolumeFiles files(VolumeEntry entry, HelperProfile profile) {
    Key key = new Key(entry.id(), profile);
    Sandbox sandbox = running(key).orElseGet(() -> create(entry, key));
    helpers.computeIfPresent(key, (any, helper) -> helper.usedNow());
    return new VolumeFiles(sandbox.files().as(FileUser.rootFor(profile.user().orElse(ROOT))));
  }

  private Optional<Sandbox> running(Key key) {
    HelperSandbox known = helpers.get(key);
    if (known == null || known.isOld()) {
      return Optional.empty(); // an old one ends by itself once what it does is done
    }
    try {
      return Optional.of(sandboxes.sandbox(known.id()))
          .filter(one -> one.state() == SandboxState.RUNNING);
    } catch (NotFound | Gone e) {
      return Optional.empty(); // it has been idle
    }
  }

  private Sandbox create(VolumeEntry entry, Key key) {
    helpers.values().removeIf(HelperSandbox::isIdle);
    if (helpers.size() >= MOST) {
      throw Fault.of(
              ErrorCode.RESOURCE_LIMIT,
              "the files of " + MOST + " volumes are in use already",
              "try again in a minute")
          .with("limit", Integer.toString(MOST))
          .exception();
    }
    SandboxSpec.Builder spec =
        SandboxSpec.builder(SandboxId.random(RANDOM))
            .network(Network.of(NetworkMode.NONE))
            .volume(
                new VolumeMount(VolumeMount.Type.VOLUME, entry.name(), VolumeFiles.MOUNT, false));
    key.profile().image().ifPresent(spec::image);
    key.profile().user().ifPresent(spec::user);
    SandboxRequest order =
        SandboxRequest.of(CreateRequest.of(spec.build(), entry.provider()).withTtl(LONGEST))
            .withTenant(entry.tenant())
            .withLabels(Map.of(VolumeMounts.LABEL, entry.id()))
            .withIdleTimeout(IDLE);
    SandboxId id = sandboxes.create(order).id();
    helpers.put(key, new HelperSandbox(id, System.nanoTime(), System.nanoTime()));
    Sandbox sandbox = sandboxes.sandbox(id);
    key.profile().user().ifPresent(user -> give(sandbox.files().as(FileUser.rootFor(user)), user));
    return sandbox;
  }

  /** A volume that no sandbox has used yet belongs to root. */
  private static void give(FileSystem files, String user) {
    if (files.stat(VolumeFiles.MOUNT, NOFOLLOW_LINKS).uid() == 0) {
      files.changeOwner(VolumeFiles.MOUNT, user);
    }
  }

  /** Destroys all helper sandboxes of a volume. */
  void destroyAll(String volume) {
    helpers.keySet().removeIf(key -> key.volume().equals(volume));
    mounts.helpers(volume).forEach(sandboxes::destroy);
  }
}
