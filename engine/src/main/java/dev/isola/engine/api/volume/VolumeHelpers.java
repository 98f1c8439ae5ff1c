package dev.isola.engine.api.volume;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.HelperProfile;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.VolumeFiles;
import dev.isola.engine.api.sandbox.SandboxCreator;
import dev.isola.engine.api.sandbox.Sandboxes;
import dev.isola.spi.DestroyOptions;
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
 * Helper sandboxes: only sandboxes of the provider can access the files of a volume, so the engine
 * creates one, without network, and accesses the files through it. It is reused until it has been
 * idle for a while.
 */
final class VolumeHelpers {
  private static final Duration IDLE = Duration.ofSeconds(30);

  /** Long enough to transfer a large file to a slow client. */
  private static final Duration LONGEST = Duration.ofHours(1);

  private static final Duration REPLACED_AFTER = Duration.ofMinutes(30);

  /** The maximum number at once, so that clients cannot fill the machine with helper sandboxes. */
  private static final int MOST = 32;

  private static final String ROOT = "root";
  private static final SecureRandom RANDOM = new SecureRandom();

  private final SandboxCreator creator;
  private final Sandboxes sandboxes;
  private final VolumeMounts mounts;
  private final Map<Key, HelperSandbox> helpers = new ConcurrentHashMap<>();

  private record Key(String volume, HelperProfile profile) {}

  /**
   * @param created the creation time in {@link System#nanoTime}, like {@code used}
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

  VolumeHelpers(SandboxCreator creator, Sandboxes sandboxes, VolumeMounts mounts) {
    this.creator = creator;
    this.sandboxes = sandboxes;
    this.mounts = mounts;
  }

  /** Returns the files of a volume. The caller holds the lock of the volume. */
  VolumeFiles files(VolumeEntry entry, HelperProfile profile) {
    Key key = new Key(entry.id(), profile);
    Sandbox sandbox = running(key).orElseGet(() -> create(entry, key));
    helpers.computeIfPresent(key, (any, helper) -> helper.usedNow());
    return new VolumeFiles(sandbox.files().as(FileUser.rootFor(profile.user().orElse(ROOT))));
  }

  private Optional<Sandbox> running(Key key) {
    HelperSandbox known = helpers.get(key);
    if (known == null || known.isOld()) {
      return Optional.empty(); // an old one expires by itself after it has finished its transfers
    }
    try {
      return Optional.of(sandboxes.get(known.id()))
          .filter(one -> one.state() == SandboxState.RUNNING);
    } catch (NotFound | Gone e) {
      return Optional.empty(); // it expired while idle
    }
  }

  private Sandbox create(VolumeEntry entry, Key key) {
    helpers.values().removeIf(HelperSandbox::isIdle);
    if (helpers.size() >= MOST) {
      throw Fault.of(
              ErrorCode.RESOURCE_LIMIT,
              "the files of " + MOST + " volumes are already in use",
              "retry in a minute")
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
    SandboxRequest request =
        SandboxRequest.of(CreateRequest.of(spec.build(), entry.provider()).withTtl(LONGEST))
            .withTenant(entry.tenant())
            .withLabels(Map.of(VolumeMounts.LABEL, entry.id()))
            .withIdleTimeout(IDLE);
    SandboxId id = creator.create(request).view().id();
    helpers.put(key, new HelperSandbox(id, System.nanoTime(), System.nanoTime()));
    Sandbox sandbox = sandboxes.get(id);
    key.profile().user().ifPresent(user -> chown(sandbox.files().as(FileUser.rootFor(user)), user));
    return sandbox;
  }

  /** Changes the owner of a new volume, which belongs to root. */
  private static void chown(FileSystem files, String user) {
    if (files.stat(VolumeFiles.MOUNT, NOFOLLOW_LINKS).uid() == 0) {
      files.changeOwner(VolumeFiles.MOUNT, user);
    }
  }

  /** Destroys all helper sandboxes of a volume. */
  void destroyAll(String volume) {
    helpers.keySet().removeIf(key -> key.volume().equals(volume));
    mounts.helpers(volume).forEach(id -> sandboxes.destroy(id, DestroyOptions.FORCE));
  }
}
