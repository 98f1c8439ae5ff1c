package dev.isola.engine.sandbox;

import dev.isola.document.request.ProviderPreference;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import dev.isola.store.Ledger;
import dev.isola.store.VolumeEntry;
import dev.isola.store.VolumeEntry.State;
import java.time.InstantSource;
import java.util.List;
import java.util.stream.Stream;

/** Finds the volumes of a request in the ledger, and the provider that stores them. */
public record VolumeResolver(Ledger ledger, InstantSource clock) {

  /** Returns the named volumes of a spec. */
  public static Stream<String> names(SandboxSpec spec) {
    return spec.volumes().stream()
        .filter(one -> one.type() == VolumeMount.Type.VOLUME)
        .map(VolumeMount::source)
        .distinct();
  }

  /**
   * Checks the volumes of a request. If the request names no provider, returns it with the provider
   * that stores its volumes.
   *
   * @throws dev.isola.spi.error.NotFound if a volume belongs to another tenant
   * @throws dev.isola.spi.error.Conflict if a volume is being removed, or volumes are stored by
   *     different providers
   */
  SandboxRequest resolve(SandboxRequest request) {
    String holder = "";
    for (VolumeEntry entry : mounted(request)) {
      if (!entry.tenant().equals(request.tenant())) {
        throw missing(entry.name());
      }
      if (entry.state() == State.REMOVING) {
        throw removing(entry.name());
      }
      if (!holder.isEmpty() && !entry.provider().isEmpty() && !holder.equals(entry.provider())) {
        throw Fault.of(
                ErrorCode.CONFLICT,
                "the volumes are stored by different providers: "
                    + holder
                    + ", "
                    + entry.provider(),
                "mount volumes of one provider, or name the provider")
            .exception();
      }
      holder = holder.isEmpty() ? entry.provider() : holder;
    }
    boolean auto = request.request().placement().provider().equals(ProviderPreference.AUTO);
    return holder.isEmpty() || !auto
        ? request
        : request.withRequest(request.request().withProvider(holder));
  }

  /** Records the provider of volumes whose provider was not known before. */
  public void recordProvider(SandboxRequest request, String provider) {
    for (VolumeEntry entry : mounted(request)) {
      if (entry.provider().isEmpty()) {
        ledger.volumes().update(entry.withProvider(provider, clock.instant()));
      }
    }
  }

  private List<VolumeEntry> mounted(SandboxRequest request) {
    return names(request.request().spec())
        .flatMap(name -> ledger.volumes().findByName(name).stream())
        .toList();
  }

  /** Returns the error for a volume that the tenant does not have. */
  public static SandboxException missing(String name) {
    return Fault.of(ErrorCode.VOLUME_NOT_FOUND, "there is no volume " + name, "list the volumes")
        .exception();
  }

  /** Returns the error for the use of a volume that is being removed. */
  public static SandboxException removing(String name) {
    return Fault.of(
            ErrorCode.CONFLICT, "volume " + name + " is being removed", "use another volume")
        .exception();
  }
}
