package dev.isola.spi.provider;

import dev.isola.spi.LimitKind;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;

/**
 * What of a spec a provider can honour on this machine. A spec that asks for something that is not
 * in here is refused by name; limits that are not enforced are accepted and reported as such, and
 * refused only where the client requires them.
 */
public record SpecSupport(
    Set<SpecFeature> features,
    Set<NetworkMode> networkModes,
    Set<VolumeMount.Type> volumeTypes,
    Set<LimitKind> enforcedLimits) {
  public SpecSupport {
    features = Set.copyOf(features);
    networkModes = Set.copyOf(networkModes);
    volumeTypes = Set.copyOf(volumeTypes);
    enforcedLimits = Set.copyOf(enforcedLimits);
  }

  public boolean has(SpecFeature feature) {
    return features.contains(feature);
  }

  /**
   * Tells whether a limit holds for sandboxes of this spec. The bandwidth of the host's own network
   * cannot be limited for one of its users.
   */
  public boolean enforces(LimitKind kind, SandboxSpec spec) {
    boolean shared =
        kind == LimitKind.BANDWIDTH
            && spec.network().mode().filter(mode -> mode == NetworkMode.HOST).isPresent();
    return enforcedLimits.contains(kind) && !shared;
  }

  /** Returns the features that a spec asks for and that are not in here. */
  public List<SpecFeature> unsupportedFeatures(SandboxSpec spec) {
    return Stream.of(SpecFeature.values())
        .filter(feature -> feature.isRequestedBy(spec) && !has(feature))
        .toList();
  }

  /** Returns what a spec asks for that is not in here, in words. */
  List<String> missing(SandboxSpec spec) {
    List<String> missing = new ArrayList<>();
    unsupportedFeatures(spec).forEach(feature -> missing.add(feature.displayName()));
    spec.network()
        .mode()
        .filter(mode -> !networkModes.contains(mode))
        .ifPresent(mode -> missing.add("network mode " + word(mode)));
    spec.volumes().stream()
        .map(VolumeMount::type)
        .distinct()
        .filter(type -> !volumeTypes.contains(type))
        .forEach(type -> missing.add("volumes of type " + word(type)));
    return missing;
  }

  private static String word(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }
}
