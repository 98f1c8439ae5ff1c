package dev.isola.provider.http;

import dev.isola.provider.http.client.BackendDocument;
import dev.isola.provider.http.client.BackendText;
import dev.isola.spi.Health;
import dev.isola.spi.Isolation;
import dev.isola.spi.LimitKind;
import dev.isola.spi.capability.Pausing.PauseKind;
import dev.isola.spi.provider.HostResources;
import dev.isola.spi.provider.SpecFeature;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.VolumeMount;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * What a backend declares. A word that is not known is an error where it decides about isolation or
 * how to talk to the backend, and ignored in the lists of optional parts.
 *
 * @param capabilities the ids that it lists
 * @param architecture of the sandboxes, for the guest agent; empty without relay
 * @param provider the kind of sandboxes that this describes; sent with create
 */
record BackendInfo(
    String name,
    String summary,
    Level level,
    String architecture,
    Isolation isolation,
    boolean accelerated,
    Optional<String> provider,
    Set<String> capabilities,
    Set<PauseKind> pauseKinds,
    Set<SpecFeature> features,
    Set<NetworkMode> networkModes,
    Set<VolumeMount.Type> volumeTypes,
    Set<LimitKind> limits,
    Duration startup,
    Optional<HostResources> resources,
    Health health) {
  private static final int PROTOCOL = 1;
  private static final Set<SpecFeature> POSSIBLE =
      EnumSet.of(SpecFeature.IMAGES, SpecFeature.USERS, SpecFeature.DOMAINS, SpecFeature.GPUS);
  private static final long DEFAULT_STARTUP = 5_000;
  private static final long MOST_PROCESSORS = 1 << 20;
  private static final long MOST_MB = 1L << 40;

  /** How Isola reaches the commands and files of a sandbox. */
  enum Level {
    /** By requests, one for each command and file. */
    SIMPLE,
    /** By the guest agent, which the backend starts and whose bytes it carries. */
    RELAY,
    /** By a backend that takes the role of the agent. */
    SERVE
  }

  static BackendInfo parse(BackendDocument json) {
    if (json.count("protocol") != PROTOCOL) {
      throw json.malformed(
          "it speaks version " + json.count("protocol") + " of the protocol, not " + PROTOCOL);
    }
    Level level = level(json);
    Isolation isolation =
        word(Isolation.class, json.text("isolation"))
            .orElseThrow(
                () ->
                    json.malformed(
                        "its isolation '" + word(json, "isolation") + "'" + " is not known"));
    return new BackendInfo(
        BackendText.line(json.text("name")),
        BackendText.line(json.optionalText("summary").orElse("")),
        level,
        architecture(json, level),
        isolation,
        json.flag("accelerated", true),
        json.optionalText("provider"),
        Set.copyOf(json.texts("capabilities")),
        words(PauseKind.class, json.texts("pauseKinds")),
        features(json),
        networkModes(json),
        volumeTypes(json),
        words(LimitKind.class, json.texts("limits")),
        Duration.ofMillis(
            Math.clamp(json.optionalCount("startupMs").orElse(DEFAULT_STARTUP), 1, 3_600_000)),
        json.has("resources") ? resources(json.document("resources")) : Optional.empty(),
        health(json.document("health")));
  }

  /** Figures that make no sense count as not reported. */
  private static Optional<HostResources> resources(BackendDocument json) {
    long processors = json.optionalCount("processors").orElse(0);
    long memoryMb = json.optionalCount("memoryMb").orElse(0);
    if (processors < 1 || processors > MOST_PROCESSORS || memoryMb < 1 || memoryMb > MOST_MB) {
      return Optional.empty();
    }
    return Optional.of(
        new HostResources(
            (int) processors,
            memoryMb,
            atMost(json.optionalCount("freeMemoryMb"), memoryMb),
            atMost(json.optionalCount("diskMb"), MOST_MB),
            atMost(json.optionalCount("freeDiskMb"), MOST_MB)));
  }

  private static OptionalLong atMost(OptionalLong reported, long most) {
    return reported.isPresent() && reported.getAsLong() <= most ? reported : OptionalLong.empty();
  }

  /** The protocol has no way to pass connections of a sandbox to this server. */
  private static Set<NetworkMode> networkModes(BackendDocument json) {
    Set<NetworkMode> modes = words(NetworkMode.class, json.texts("networkModes"));
    modes.remove(NetworkMode.FILTERED);
    return modes;
  }

  private static Level level(BackendDocument json) {
    String level = json.text("level");
    String channel = json.optionalText("channel").orElse("relay");
    if (level.equals("simple")) {
      return Level.SIMPLE;
    }
    if (!level.equals("channel")) {
      throw json.malformed("its level '" + BackendText.line(level) + "' is not known");
    }
    return switch (channel) {
      case "relay" -> Level.RELAY;
      case "serve" -> Level.SERVE;
      default ->
          throw json.malformed("its channel '" + BackendText.line(channel) + "' is not known");
    };
  }

  private static String architecture(BackendDocument json, Level level) {
    if (level != Level.RELAY) {
      return "";
    }
    String name = json.text("architecture");
    if (!Set.of("x86_64", "aarch64").contains(name)) {
      throw json.malformed("its architecture '" + BackendText.line(name) + "' is not known");
    }
    return name;
  }

  private static String word(BackendDocument json, String name) {
    return BackendText.line(json.text(name));
  }

  private static Set<SpecFeature> features(BackendDocument json) {
    Set<SpecFeature> features = words(SpecFeature.class, json.texts("features"));
    features.retainAll(POSSIBLE);
    return features;
  }

  /** A folder of this machine is not on that of the backend. */
  private static Set<VolumeMount.Type> volumeTypes(BackendDocument json) {
    Set<VolumeMount.Type> types = words(VolumeMount.Type.class, json.texts("volumeTypes"));
    types.remove(VolumeMount.Type.BIND);
    return types;
  }

  private static Health health(BackendDocument json) {
    String reason = BackendText.line(json.optionalText("reason").orElse("no reason given"));
    String fix =
        BackendText.line(json.optionalText("fix").orElse("ask the operator of the backend"));
    String status = json.text("status");
    return switch (status) {
      case "healthy" -> new Health.Healthy("the backend is healthy");
      case "degraded" -> new Health.Degraded("the backend is degraded: " + reason, fix);
      case "unhealthy" -> new Health.Unhealthy("the backend is unhealthy: " + reason, fix);
      default -> throw json.malformed("its health '" + BackendText.line(status) + "' is not known");
    };
  }

  /** Returns the constant for a word such as {@code file-descriptors}. */
  static <E extends Enum<E>> Optional<E> word(Class<E> type, String word) {
    String name = word.toUpperCase(Locale.ROOT).replace('-', '_');
    return List.of(type.getEnumConstants()).stream()
        .filter(one -> one.name().equals(name))
        .findFirst();
  }

  static <E extends Enum<E>> Set<E> words(Class<E> type, List<String> words) {
    Set<E> found = new HashSet<>();
    words.forEach(word -> word(type, word).ifPresent(found::add));
    return found;
  }
}
