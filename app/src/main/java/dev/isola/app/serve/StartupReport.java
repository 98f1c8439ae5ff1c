package dev.isola.app.serve;

import dev.isola.engine.api.ProviderNames;
import dev.isola.engine.api.ProviderStatus;
import dev.isola.engine.api.health.Readiness;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigKeys;
import dev.isola.engine.config.ProviderSettings;
import dev.isola.server.IsolaServer;
import dev.isola.server.auth.MachineNames;
import dev.isola.spi.Health;
import dev.isola.spi.provider.ProviderInfo;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Log messages of a server that has started: one line about the providers. Most machines support
 * only a few of them, so only a provider that the configuration names and that does not work is a
 * warning.
 */
record StartupReport(Config config, Readiness readiness, ServerLog log) {
  /** Maximum number of names listed. */
  private static final int MAX_NAMES = 8;

  /**
   * Returns the first line: the address that the server listens on, and the names it is reachable
   * under if they differ.
   *
   * @param e2bDomain the domain of E2B's clients
   */
  static String listeningLine(
      IsolaServer server, MachineNames names, List<String> domains, Optional<String> e2bDomain) {
    String line = "Isola listening on " + server.url();
    if (names.all().isEmpty()) {
      return line
          + e2bDomain
              .map(name -> " and reachable as https://api." + name + ":" + server.port())
              .orElse("");
    }
    String scheme = URI.create(server.url()).getScheme();
    return line
        + " and reachable as "
        + Stream.of(List.of("localhost"), domains, names.all())
            .flatMap(List::stream)
            .distinct()
            .limit(MAX_NAMES)
            .map(name -> scheme + "://" + name + ":" + server.port())
            .collect(Collectors.joining(", "));
  }

  void write(List<ProviderStatus> statuses) {
    Optional<ProviderInfo> chosen = readiness.chosen();
    List<String> others =
        statuses.stream()
            .filter(ProviderStatus::healthy)
            .map(ProviderStatus::name)
            .filter(name -> chosen.filter(one -> one.name().equals(name)).isEmpty())
            .toList();
    String also =
        others.isEmpty()
            ? ""
            : "; "
                + String.join(", ", others)
                + (others.size() == 1 ? " is" : " are")
                + " also available";
    if (chosen.isPresent()) {
      log.info(
          "sandboxes are created by "
              + chosen.get().name()
              + " (isolation "
              + chosen.get().isolation().name().toLowerCase(Locale.ROOT)
              + ")"
              + also
              + "; run isola doctor for details");
    } else {
      log.warning(
          "no provider allowed by the configuration can create sandboxes"
              + also
              + "; run isola doctor for the reasons and fixes");
    }
    Set<String> named = named();
    for (ProviderStatus status : statuses) {
      boolean selected = chosen.filter(one -> one.name().equals(status.name())).isPresent();
      if ((selected || named.contains(status.name()))
          && status.health() instanceof Health.Degraded(String reason, String fix)) {
        log.warning(
            "provider "
                + status.name()
                + " is degraded: "
                + reason
                + (fix.isEmpty() ? "" : "; " + fix));
      }
      if (named.contains(status.name())
          && status.health() instanceof Health.Unhealthy(String reason, String fix)) {
        log.warning(
            "provider "
                + status.name()
                + " is configured but does not work: "
                + reason
                + (fix.isEmpty() ? "" : "; " + fix));
      }
    }
  }

  private Set<String> named() {
    List<String> names = new ArrayList<>();
    names.add(config.get(ConfigKeys.PROVIDER));
    config.pool().forEach(one -> names.add(one.provider()));
    config.providers().values().stream()
        .filter(ProviderSettings::enabled)
        .forEach(one -> names.add(one.name()));
    return names.stream()
        .map(ProviderNames::canonical)
        .collect(Collectors.toCollection(HashSet::new));
  }
}
