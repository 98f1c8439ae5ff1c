package dev.isola.engine.snapshot;

import dev.isola.engine.api.Log;
import dev.isola.engine.api.SnapshotImageName;
import dev.isola.engine.api.registry.ProviderRegistry;
import dev.isola.engine.metrics.EngineOperation;
import dev.isola.engine.metrics.Instrumentation;
import dev.isola.snapshot.SnapshotArchives;
import dev.isola.snapshot.SnapshotReader;
import dev.isola.snapshot.manifest.Snapshot;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Forking.ForkPoint;
import dev.isola.spi.capability.MemoryForking;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;

/** Snapshots as images, written {@code snapshot:ID} in a spec. */
public final class SnapshotImages {
  /** The suffix that allows a base image other than the original one. */
  private static final String FORCE = "+force";

  private final LazySnapshotStore store;
  private final ProviderRegistry registry;
  private final Instrumentation instrumentation;
  private final Log log;

  public SnapshotImages(
      LazySnapshotStore store,
      ProviderRegistry registry,
      Instrumentation instrumentation,
      Log log) {
    this.store = store;
    this.registry = registry;
    this.instrumentation = instrumentation;
    this.log = log;
  }

  static Optional<String> id(SandboxSpec spec) {
    return spec.image()
        .filter(name -> name.startsWith(SnapshotImageName.PREFIX))
        .map(
            name ->
                name.substring(
                    SnapshotImageName.PREFIX.length(),
                    name.length() - (isForced(name) ? FORCE.length() : 0)));
  }

  static boolean isForced(String name) {
    return name.endsWith(FORCE);
  }

  /** Returns whether the image of a spec is a snapshot. */
  public boolean handles(SandboxSpec spec) {
    return id(spec).isPresent();
  }

  /**
   * Returns whether the image of a spec contains running processes. Such a sandbox inherits the
   * spec of the one that they were captured from.
   */
  public boolean containsProcesses(SandboxSpec spec) {
    return id(spec).map(id -> store.get().get(id)).filter(SnapshotImages::isMemory).isPresent();
  }

  public static boolean isMemory(Snapshot snapshot) {
    return snapshot.kind() == Snapshot.Kind.MEMORY;
  }

  /** Returns the capability that a provider needs for the image of a spec. */
  public Class<? extends Capability> requiredCapability(SandboxSpec spec) {
    return containsProcesses(spec) ? MemoryForking.class : Snapshotting.class;
  }

  /**
   * Returns the spec with the base image, for the provider.
   *
   * @throws dev.isola.spi.error.NotFound if there is no such image
   * @throws dev.isola.spi.error.Unsupported if this machine cannot run the image
   */
  public SandboxSpec baseSpec(SandboxSpec spec) {
    return baseSpec(store, spec);
  }

  public static SandboxSpec baseSpec(LazySnapshotStore store, SandboxSpec spec) {
    Optional<String> id = id(spec);
    if (id.isEmpty()) {
      return spec;
    }
    Snapshot snapshot = store.get().get(id.get());
    refuseOtherArchitecture(snapshot);
    SandboxSpec.Builder base = spec.toBuilder();
    snapshot.image().ifPresentOrElse(base::image, base::clearImage);
    return base.build();
  }

  private static void refuseOtherArchitecture(Snapshot snapshot) {
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

  /**
   * Creates a sandbox of a snapshot. If this throws, the provider has destroyed it.
   *
   * @param spec the spec with the snapshot
   * @param base the spec for the provider: {@link #baseSpec}, with a deadline
   * @param name the name of the provider
   */
  public Sandbox create(SandboxSpec spec, SandboxSpec base, String name) {
    Provider provider = registry.get(name);
    String id = id(spec).orElseThrow();
    if (isMemory(store.get().get(id))) {
      return instrumentation.measure(
          EngineOperation.RESTORE, name, () -> continueProcesses(id, base, provider));
    }
    Sandbox sandbox = provider.create(base);
    try {
      instrumentation.measure(
          EngineOperation.RESTORE, name, () -> restoreFiles(id, spec, sandbox, name));
      return sandbox;
    } catch (SandboxException e) {
      provider.destroy(spec.id(), DestroyOptions.FORCE); // the next attempt starts from scratch
      throw e;
    }
  }

  private void restoreFiles(String id, SandboxSpec spec, Sandbox sandbox, String provider) {
    boolean force = spec.image().filter(SnapshotImages::isForced).isPresent();
    Snapshotting snapshotting =
        sandbox
            .as(Snapshotting.class)
            .orElseThrow(() -> Capability.unsupported(provider, "snapshotting"));
    try (SnapshotReader reader = store.get().open(id)) {
      TimeLimit time = new TimeLimit("the files of snapshot " + id);
      new SnapshotRestore(reader, spec, sandbox, snapshotting, time).run(force);
    }
  }

  private Sandbox continueProcesses(String id, SandboxSpec base, Provider provider) {
    ForkPoint point = openForkPoint(id, provider);
    try {
      return point.create(base);
    } finally {
      MemoryCapturer.release(point, "to restore snapshot " + id, log);
    }
  }

  /** Opens what a snapshot contains. The store verifies all of it before the provider reads it. */
  private ForkPoint openForkPoint(String id, Provider provider) {
    try (SnapshotReader reader = store.get().open(id);
        InputStream archive = SnapshotArchives.archive(reader)) {
      return provider.openForkPoint(archive);
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "snapshot " + id + " cannot be read: " + e.getMessage(),
              "check the server log, and create it from another snapshot")
          .with("snapshot", id)
          .exception(e);
    }
  }
}
