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
 * The parts of a spec that a provider supports on this machine. A spec that requests anything else
 * is rejected, and the error names it. Limits are the exception: a limit that is not enforced is
 * accepted and reported as not enforced, and rejected only if the client requires it.
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
   * Returns whether the limit is enforced for sandboxes of this spec. Bandwidth is not enforced in
   * network mode {@code host}, because the sandbox shares the interfaces of the host; in mode
   * {@code filtered} what carries the connections enforces it, whatever the provider can do.
   */
  public boolean enforces(LimitKind kind, SandboxSpec spec) {
    NetworkMode mode = spec.network().mode().orElse(NetworkMode.NONE);
    if (kind == LimitKind.BANDWIDTH && mode == NetworkMode.HOST) {
      return false;
    }
    return enforcedLimits.contains(kind)
        || (kind == LimitKind.BANDWIDTH && mode == NetworkMode.FILTERED);
  }

  /** Returns the features that a spec requests and that are not supported. */
  public List<SpecFeature> unsupportedFeatures(SandboxSpec spec) {
    return Stream.of(SpecFeature.values())
        .filter(feature -> feature.isRequestedBy(spec) && !has(feature))
        .toList();
  }

  /** Returns everything that a spec requests and that is not supported, in words. */
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
