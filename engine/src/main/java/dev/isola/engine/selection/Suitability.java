package dev.isola.engine.selection;

import dev.isola.spi.Isolation;
import dev.isola.spi.ProviderInfo;
import dev.isola.spi.SpecSupport;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.spec.LimitKind;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.Volume;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Finds what a request needs that a provider does not declare. Only declared things count. */
final class Suitability {
  private Suitability() {}

  /** Returns everything that is missing, in words; nothing when it would do. */
  static List<String> missing(Request request, ProviderInfo info) {
    List<String> missing = new ArrayList<>();
    SandboxSpec spec = request.spec();
    SpecSupport support = info.support();
    if (spec.image().isPresent() && !support.images()) {
      missing.add("images");
    }
    if (spec.user().isPresent() && !support.users()) {
      missing.add("running as another user");
    }
    spec.network()
        .mode()
        .filter(mode -> !support.networkModes().contains(mode))
        .ifPresent(mode -> missing.add("network mode " + word(mode)));
    spec.volumes().stream()
        .map(Volume::type)
        .distinct()
        .filter(type -> !support.volumeTypes().contains(type))
        .forEach(type -> missing.add("volumes of type " + word(type)));
    // The contract has no way to declare them yet, so nobody has them.
    if (spec.gpus() > 0) {
      missing.add("GPUs");
    }
    for (LimitKind kind : LimitKind.values()) {
      boolean needed =
          spec.limits().required().contains(kind) || request.require().enforced().contains(kind);
      if (needed && !support.enforcedLimits().contains(kind)) {
        missing.add("enforcing the limit of " + word(kind));
      }
    }
    Capability.all().stream()
        .filter(capability -> request.require().capabilities().contains(capability))
        .filter(capability -> !info.capabilities().contains(capability))
        .forEach(capability -> missing.add(Capability.idOf(capability)));
    return missing;
  }

  static String word(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }

  /** Returns the stronger of what the request and the installation want. */
  static Isolation floor(Request request, Policy policy) {
    Isolation asked = request.require().isolation();
    return asked.isAtLeast(policy.floor()) ? asked : policy.floor();
  }
}
