package dev.isola.engine.snapshot;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.Log;
import dev.isola.engine.lifecycle.Deadlines;
import dev.isola.engine.lifecycle.EngineImages;
import dev.isola.engine.lifecycle.SecretEnvStore;
import dev.isola.engine.lifecycle.SpecCodec;
import dev.isola.engine.lifecycle.SuspensionStorage;
import dev.isola.engine.registry.ProviderRegistry;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.store.SandboxEntry;
import java.util.Map;

/** Stores suspended sandboxes as snapshots of everything that they wrote. */
public record SnapshotSuspensionStorage(
    SnapshotService snapshots,
    EngineImages images,
    ProviderRegistry registry,
    SecretEnvStore secrets,
    Log log)
    implements SuspensionStorage {
  /** The tag of such a snapshot; its value is the sandbox id. */
  public static final String TAG = "isola.rest";

  @Override
  public String save(SandboxEntry entry) {
    return snapshots
        .create(entry.id(), SnapshotRequest.EVERYTHING.withTags(Map.of(TAG, entry.id().value())))
        .snapshot()
        .id();
  }

  @Override
  public Sandbox restore(SandboxEntry entry, String snapshot) {
    CreateRequest request = SpecCodec.decode(entry.spec(), entry.id());
    SandboxSpec spec = request.spec().toBuilder().secretEnv(secrets.get(entry.id())).build();
    SandboxSpec.Builder again =
        Deadlines.forProvider(request.with(spec)).toBuilder().clearInitialization();
    snapshots.baseImage(entry).ifPresentOrElse(again::image, again::clearImage);
    Provider provider = registry.get(entry.provider());
    Sandbox sandbox = provider.create(again.build());
    try {
      images.populate(
          spec.toBuilder().image(SnapshotImages.imageName(snapshot)).build(),
          sandbox,
          entry.provider());
      return sandbox;
    } catch (SandboxException e) {
      provider.destroy(entry.id(), DestroyOptions.FORCE);
      throw e;
    }
  }

  @Override
  public void delete(String snapshot) {
    try {
      snapshots.remove(snapshot);
    } catch (NotFound already) {
      // already deleted
    } catch (SandboxException e) {
      log.warning(
          "the snapshot "
              + snapshot
              + " of a suspended sandbox could not be deleted: "
              + e.fault().problem());
    }
  }
}
