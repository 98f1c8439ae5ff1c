package dev.isola.spi;

import dev.isola.spi.capability.Capability;
import dev.isola.spi.spec.LimitKind;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.Volume;
import java.util.Locale;
import java.util.Set;

/**
 * What of a spec a provider can honour on this machine. A spec that asks for something that is not
 * in here is refused by name; limits that are not enforced are accepted and reported as such, and
 * refused only where the caller requires them.
 *
 * @param images whether a spec may name an image
 * @param users whether commands may run as another user
 */
public record SpecSupport(
    boolean images,
    boolean users,
    Set<NetworkMode> networkModes,
    Set<Volume.Type> volumeTypes,
    Set<LimitKind> enforcedLimits) {
  public SpecSupport {
    networkModes = Set.copyOf(networkModes);
    volumeTypes = Set.copyOf(volumeTypes);
    enforcedLimits = Set.copyOf(enforcedLimits);
  }

  /**
   * Refuses a spec that requires a limit nobody enforces here.
   *
   * @throws dev.isola.spi.error.Unsupported naming the first of them
   */
  public void refuseUnenforced(String provider, SandboxSpec spec) {
    for (LimitKind kind : LimitKind.values()) {
      boolean needed =
          spec.limits().required().contains(kind) || spec.require().enforced().contains(kind);
      if (needed && !enforcedLimits.contains(kind)) {
        throw Capability.unsupported(
            provider,
            "enforcing the limit of "
                + kind.name().toLowerCase(Locale.ROOT).replace('_', ' ')
                + " on this machine");
      }
    }
  }
}
