package dev.isola.engine.api.template;

import dev.isola.engine.api.TemplateImages;
import dev.isola.engine.api.sandbox.SandboxCreator;
import dev.isola.engine.api.sandbox.Sandboxes;
import dev.isola.engine.api.snapshot.SnapshotService;
import dev.isola.engine.lifecycle.ActivityTracker;
import dev.isola.engine.lifecycle.SandboxRecorder;
import dev.isola.engine.spec.SpecCodec;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import dev.isola.store.SandboxEntry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Makes images of sandboxes: their files, and the user, working directory and variables of their
 * image. Variables of a sandbox are left out, because every client can read those of an image.
 */
public final class ImageCommits {
  private static final int AT_ONCE = 2;
  private static final Duration QUEUE_TIMEOUT = Duration.ofMinutes(1);

  private final TemplateImages images;
  private final SandboxCreator creator;
  private final Sandboxes sandboxes;
  private final SandboxRecorder recorder;
  private final SnapshotService snapshots;
  private final ActivityTracker activity;
  private final Semaphore slots = new Semaphore(AT_ONCE, true);

  public ImageCommits(
      TemplateImages images,
      SandboxCreator creator,
      Sandboxes sandboxes,
      SandboxRecorder recorder,
      SnapshotService snapshots,
      ActivityTracker activity) {
    this.images = images;
    this.creator = creator;
    this.sandboxes = sandboxes;
    this.recorder = recorder;
    this.snapshots = snapshots;
    this.activity = activity;
  }

  /**
   * Makes an image of a running sandbox. Volumes and a workspace on the host are left out. If this
   * throws, there is no image, and the sandbox keeps running.
   *
   * @param image the name of the new image
   * @param replace whether to replace an existing image of that name
   * @throws dev.isola.spi.error.Unsupported if the provider has no snapshots, or the sandbox no
   *     image
   */
  public void commit(SandboxId id, String image, boolean replace) {
    creator.refuseWhenClosing();
    SandboxEntry entry = recorder.require(id);
    try (ActivityTracker.Activity _ = activity.begin(id)) {
      Sandbox sandbox = sandboxes.get(id);
      if (sandbox.as(Snapshotting.class).isEmpty()) {
        throw Capability.unsupported(
            entry.provider(), "snapshotting, which an image of a sandbox needs");
      }
      Optional<String> base = snapshots.baseImage(entry);
      if (base.isEmpty() || base.get().equals("host")) {
        throw Fault.of(
                ErrorCode.NOT_IMPLEMENTED,
                "sandbox " + id + " has no image of its own: its root is that of the host",
                "create a sandbox with an image (--image base), and commit that")
            .sandbox(id)
            .exception();
      }
      images.checkCanAdd(image, replace);
      acquire();
      try {
        SandboxSpec spec = SpecCodec.decode(entry.spec(), id).spec();
        new ImageExport(images)
            .store(sandbox, base, emptied(spec), image, metadata(spec, base.get(), replace));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } finally {
        slots.release();
      }
    }
  }

  private void acquire() {
    try {
      if (!slots.tryAcquire(QUEUE_TIMEOUT.toSeconds(), TimeUnit.SECONDS)) {
        throw Fault.of(
                ErrorCode.RESOURCE_LIMIT,
                AT_ONCE + " sandboxes are already being committed",
                "retry in a minute")
            .with("limit", Integer.toString(AT_ONCE))
            .exception();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Fault.of(ErrorCode.CANCELLED, "the commit was cancelled", "commit again").exception(e);
    }
  }

  private static List<String> emptied(SandboxSpec spec) {
    List<String> emptied = new ArrayList<>(ImageExport.NOT_IN_IMAGE);
    if (spec.workspacePath().isPresent()) {
      emptied.add(ImageExport.relative(spec.workspaceMount()));
    }
    for (VolumeMount volume : spec.volumes()) {
      emptied.add(ImageExport.relative(volume.destination()));
    }
    return emptied;
  }

  private TemplateImages.NewImage metadata(SandboxSpec spec, String base, boolean replace) {
    Optional<TemplateImages.StoredImage> stored = images.find(base);
    return new TemplateImages.NewImage(
        "sandbox " + spec.id() + " of " + base,
        stored.map(TemplateImages.StoredImage::env).orElse(Map.of()),
        spec.user().or(() -> stored.map(TemplateImages.StoredImage::user)).orElse(""),
        spec.cwd().or(() -> stored.map(TemplateImages.StoredImage::cwd)).orElse(""),
        replace);
  }
}
