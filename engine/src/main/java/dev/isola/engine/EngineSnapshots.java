package dev.isola.engine;

import dev.isola.engine.api.snapshot.SnapshotService;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigKeys;
import dev.isola.engine.lifecycle.LiveSandboxes;
import dev.isola.engine.lifecycle.SuspensionStorage;
import dev.isola.engine.snapshot.LazySnapshotStore;
import dev.isola.engine.snapshot.MemoryCapturer;
import dev.isola.engine.snapshot.MemoryForkPolicy;
import dev.isola.engine.snapshot.MemorySnapshotResolver;
import dev.isola.engine.snapshot.SnapshotImages;
import dev.isola.engine.suspension.SnapshotSuspensionStorage;

/** Snapshots: taken of sandboxes, used as images, and as the storage of suspended sandboxes. */
final class EngineSnapshots implements AutoCloseable {
  private final LazySnapshotStore store;
  final MemoryForkPolicy memoryPolicy;
  final SnapshotService service;
  final SnapshotImages images;
  final MemorySnapshotResolver resolver;
  final SuspensionStorage suspensions;

  EngineSnapshots(
      EngineContext context,
      SandboxRecords records,
      EngineSecrets secrets,
      LiveSandboxes liveSandboxes,
      Telemetry telemetry) {
    Config config = context.config();
    store =
        new LazySnapshotStore(
            config.get(ConfigKeys.DATA).resolve("snapshots"),
            config.get(ConfigKeys.SNAPSHOTS_PLACE),
            config.get(ConfigKeys.SNAPSHOTS_ENDPOINT));
    memoryPolicy = new MemoryForkPolicy(context.registry(), context.health()::current);
    service =
        new SnapshotService(
            store,
            records.recorder,
            liveSandboxes,
            new MemoryCapturer(memoryPolicy, secrets.env, context.log()),
            records.events,
            telemetry.instrumentation,
            context.clock(),
            System::nanoTime,
            context.log());
    images =
        new SnapshotImages(store, context.registry(), telemetry.instrumentation, context.log());
    resolver = new MemorySnapshotResolver(store);
    suspensions =
        new SnapshotSuspensionStorage(
            service, images, context.registry(), secrets.env, secrets.variables, context.log());
  }

  @Override
  public void close() {
    store.close();
  }
}
