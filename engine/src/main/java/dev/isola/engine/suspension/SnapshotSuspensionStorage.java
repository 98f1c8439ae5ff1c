package dev.isola.engine.suspension;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.Log;
import dev.isola.engine.api.SnapshotImageName;
import dev.isola.engine.api.SnapshotRequest;
import dev.isola.engine.api.registry.ProviderRegistry;
import dev.isola.engine.api.snapshot.SnapshotService;
import dev.isola.engine.lifecycle.Deadlines;
import dev.isola.engine.lifecycle.SecretEnvStore;
import dev.isola.engine.lifecycle.SuspensionStorage;
import dev.isola.engine.secret.SecretVariables;
import dev.isola.engine.snapshot.MemoryForkPolicy;
import dev.isola.engine.snapshot.SnapshotImages;
import dev.isola.engine.snapshot.SuspensionTags;
import dev.isola.engine.spec.SpecCodec;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.OutcomeUnknown;
import dev.isola.spi.error.ProviderUnavailable;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.error.Unsupported;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.store.SandboxEntry;
import java.util.Map;
import java.util.Optional;

/**
 * Stores suspended sandboxes as snapshots of everything that they wrote. Where the provider can
 * save processes, there is a second snapshot with them, which the first one stays behind for: the
 * host may have another runtime by the time the sandbox is resumed.
 */
public record SnapshotSuspensionStorage(
    SnapshotService snapshots,
    SnapshotImages images,
    ProviderRegistry registry,
    SecretEnvStore secrets,
    SecretVariables variables,
    Log log)
    implements SuspensionStorage {
  @Override
  public String save(SandboxEntry entry) {
    Map<String, String> tags = Map.of(SuspensionTags.SANDBOX, entry.id().value());
    String files =
        snapshots.create(entry.id(), SnapshotRequest.EVERYTHING.withTags(tags)).snapshot().id();
    return saveMemory(entry, files).orElse(files);
  }

  private Optional<String> saveMemory(SandboxEntry entry, String files) {
    if (!MemoryForkPolicy.forksMemory(registry.get(entry.provider()).info())) {
      return Optional.empty();
    }
    Map<String, String> tags =
        Map.of(SuspensionTags.SANDBOX, entry.id().value(), SuspensionTags.FILES, files);
    try {
      return Optional.of(
          snapshots.create(entry.id(), SnapshotRequest.MEMORY.withTags(tags)).snapshot().id());
    } catch (Conflict | Unsupported | ProviderUnavailable e) {
      log.info(
          "the processes of sandbox "
              + entry.id()
              + " are not stored and will start afresh: "
              + e.fault().problem());
      return Optional.empty();
    }
  }

  @Override
  public RestoredSandbox restore(SandboxEntry entry, String snapshot) {
    Optional<String> files = SuspensionTags.files(snapshots.get(snapshot));
    if (files.isEmpty()) {
      return new RestoredSandbox(create(entry, snapshot), false);
    }
    try {
      return new RestoredSandbox(create(entry, snapshot), true);
    } catch (OutcomeUnknown e) {
      throw e; // the provider may still be restoring it; the next attempt destroys that first
    } catch (SandboxException e) {
      log.warning(
          "the processes of sandbox "
              + entry.id()
              + " cannot continue, and it is resumed with its files: "
              + e.fault().problem());
      return new RestoredSandbox(create(entry, files.get()), false);
    }
  }

  private Sandbox create(SandboxEntry entry, String snapshot) {
    CreateRequest request = SpecCodec.decode(entry.spec(), entry.id());
    SandboxSpec spec =
        variables.addTo(request.spec().toBuilder().secretEnv(secrets.get(entry.id())).build());
    SandboxSpec.Builder again =
        Deadlines.forProvider(request.with(spec)).toBuilder().clearInitialization();
    snapshots.baseImage(entry).ifPresentOrElse(again::image, again::clearImage);
    return images.create(
        spec.toBuilder().image(SnapshotImageName.of(snapshot)).build(),
        again.build(),
        entry.provider());
  }

  @Override
  public void delete(String snapshot) {
    SuspensionTags.ids(snapshot, snapshots::get).forEach(this::deleteOne);
  }

  private void deleteOne(String snapshot) {
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
