package dev.isola.engine.snapshot;

import dev.isola.engine.lifecycle.EngineImages;
import dev.isola.engine.metrics.EngineOperation;
import dev.isola.engine.metrics.Instrumentation;
import dev.isola.snapshot.SnapshotReader;
import dev.isola.snapshot.manifest.Snapshot;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.spec.SandboxSpec;
import java.util.Optional;

/** Snapshots as images, written {@code snapshot:ID} in a spec. */
public final class SnapshotImages implements EngineImages {
  /** The prefix of the image name. */
  public static final String PREFIX = "snapshot:";

  /** The suffix that allows a base image other than the original one. */
  private static final String FORCE = "+force";

  private final LazySnapshotStore store;
  private final Instrumentation instrumentation;

  public SnapshotImages(LazySnapshotStore store, Instrumentation instrumentation) {
    this.store = store;
    this.instrumentation = instrumentation;
  }

  /** Returns the image name of a snapshot. */
  public static String imageName(String snapshot) {
    return PREFIX + snapshot;
  }

  private static Optional<String> id(SandboxSpec spec) {
    return spec.image()
        .filter(name -> name.startsWith(PREFIX))
        .map(
            name ->
                name.substring(
                    PREFIX.length(), name.length() - (isForced(name) ? FORCE.length() : 0)));
  }

  private static boolean isForced(String name) {
    return name.endsWith(FORCE);
  }

  @Override
  public boolean handles(SandboxSpec spec) {
    return id(spec).isPresent();
  }

  @Override
  public SandboxSpec baseSpec(SandboxSpec spec) {
    Optional<String> id = id(spec);
    if (id.isEmpty()) {
      return spec;
    }
    Snapshot snapshot = store.get().get(id.get());
    refuseUnfit(snapshot);
    SandboxSpec.Builder base = spec.toBuilder();
    snapshot.image().ifPresentOrElse(base::image, base::clearImage);
    return base.build();
  }

  /** Rejects a snapshot of another kind or CPU architecture. */
  private static void refuseUnfit(Snapshot snapshot) {
    if (snapshot.kind() != Snapshot.Kind.FILESYSTEM) {
      throw Capability.unsupported(snapshot.provider(), "restoring a snapshot of memory");
    }
    String here = System.getProperty("os.arch");
    if (!snapshot.architecture().equals(here)) {
      throw Fault.of(
              ErrorCode.NOT_IMPLEMENTED,
              "snapshot "
                  + snapshot.id()
                  + " was taken on architecture "
                  + snapshot.architecture()
                  + ", but this machine is "
                  + here,
              "restore it on a machine with that architecture")
          .with("snapshot", snapshot.id())
          .with("architecture", snapshot.architecture())
          .exception();
    }
  }

  @Override
  public void populate(SandboxSpec spec, Sandbox sandbox, String provider) {
    Optional<String> id = id(spec);
    if (id.isPresent()) {
      instrumentation.measure(
          EngineOperation.RESTORE, provider, () -> restore(id.get(), spec, sandbox, provider));
    }
  }

  private void restore(String id, SandboxSpec spec, Sandbox sandbox, String provider) {
    boolean force = spec.image().filter(SnapshotImages::isForced).isPresent();
    Snapshotting snapshotting =
        sandbox
            .as(Snapshotting.class)
            .orElseThrow(() -> Capability.unsupported(provider, "snapshotting"));
    try (SnapshotReader reader = store.get().open(id)) {
      new SnapshotRestore(reader, spec, sandbox, snapshotting).run(force);
    }
  }
}
