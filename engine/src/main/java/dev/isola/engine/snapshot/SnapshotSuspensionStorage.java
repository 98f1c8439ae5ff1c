package dev.isola.engine.snapshot;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.Log;
import dev.isola.engine.lifecycle.Deadlines;
import dev.isola.engine.lifecycle.Images;
import dev.isola.engine.lifecycle.Secrets;
import dev.isola.engine.lifecycle.SpecText;
import dev.isola.engine.lifecycle.SuspensionStorage;
import dev.isola.engine.registry.Registry;
import dev.isola.spi.Destroy;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.store.SandboxEntry;
import java.util.Map;

/** Stores suspended sandboxes as snapshots of everything that they wrote. */
public record SnapshotSuspensionStorage(
    Snapshots snapshots, Images images, Registry registry, Secrets secrets, Log log)
    implements SuspensionStorage {
  /** The tag of such a snapshot, which has the sandbox's id. */
  public static final String TAG = "isola.rest";

  @Override
  public String save(SandboxEntry entry) {
    return snapshots
        .create(entry.id(), SnapshotOrder.EVERYTHING.withTags(Map.of(TAG, entry.id().value())))
        .snapshot()
        .id();
  }

  @Override
  public Sandbox restore(SandboxEntry entry, String snapshot) {
    CreateRequest request = SpecText.read(entry.spec(), entry.id());
    SandboxSpec spec = request.spec().toBuilder().secretEnv(secrets.get(entry.id())).build();
    SandboxSpec.Builder again = Deadlines.given(request.with(spec)).toBuilder().nothingAtFirst();
    snapshots.standsOn(entry).ifPresentOrElse(again::image, again::noImage);
    Provider provider = registry.get(entry.provider());
    Sandbox sandbox = provider.create(again.build());
    try {
      images.fill(
          spec.toBuilder().image(SnapshotImages.name(snapshot)).build(), sandbox, entry.provider());
      return sandbox;
    } catch (SandboxException e) {
      provider.destroy(entry.id(), Destroy.FORCE);
      throw e;
    }
  }

  @Override
  public void delete(String snapshot) {
    try {
      snapshots.remove(snapshot);
    } catch (NotFound already) {
      // as it should be
    } catch (SandboxException e) {
      log.warning(
          "the snapshot " + snapshot + " of a suspended sandbox stays: " + e.fault().what());
    }
  }
}
