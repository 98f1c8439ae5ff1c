package dev.isola.app.cli;

import dev.isola.engine.api.ForkKind;
import dev.isola.engine.api.SnapshotKinds;
import dev.isola.spi.Health;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.HostResources;
import dev.isola.spi.provider.Prerequisite;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.provider.SpecFeature;
import dev.isola.spi.provider.SpecSupport;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Description of a provider for {@code providers} and {@code doctor}.
 *
 * @param info empty if the provider could not be created
 * @param resources of the machine that runs the sandboxes, if the provider reports them
 */
public record ProviderReport(
    String name, Health health, Optional<ProviderInfo> info, Optional<HostResources> resources) {

  public static List<ProviderReport> all(Providers providers) {
    List<ProviderReport> reports = new ArrayList<>();
    for (String name : providers.names()) {
      reports.add(of(name, providers));
    }
    return reports;
  }

  private static ProviderReport of(String name, Providers providers) {
    try {
      Provider provider = providers.get(name);
      Health health = provider.health();
      return new ProviderReport(
          name,
          health,
          Optional.of(provider.info()),
          health.usable() ? provider.resources() : Optional.empty());
    } catch (SandboxException e) {
      Health unhealthy = new Health.Unhealthy(e.fault().problem(), e.fault().remedy());
      return new ProviderReport(name, unhealthy, Optional.empty(), Optional.empty());
    }
  }

  public List<String> capabilities() {
    List<String> names = new ArrayList<>();
    if (info.isPresent()) {
      for (Class<? extends Capability> capability : Capability.all()) {
        if (info.get().capabilities().contains(capability)) {
          names.add(Capability.idOf(capability));
        }
      }
    }
    return names;
  }

  /** Returns the isolation on this machine, and whether it emulates processors. */
  public String isolation() {
    return info.map(
            known -> kebabCase(known.isolation()) + (known.accelerated() ? "" : " (emulated)"))
        .orElse("unknown");
  }

  public List<String> limits() {
    return info.map(known -> labels(known.support().enforcedLimits())).orElse(List.of());
  }

  public static String kebabCase(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  private static List<String> labels(Collection<? extends Enum<?>> values) {
    return values.stream().sorted().map(ProviderReport::kebabCase).toList();
  }

  public Map<String, ?> json() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("name", name);
    json.put("healthy", health.healthy());
    switch (health) {
      case Health.Healthy(String detail) -> json.put("detail", detail);
      case Health.Degraded(String reason, String fix) -> {
        json.put("degraded", true);
        json.put("reason", reason);
        json.put("fix", fix);
      }
      case Health.Unhealthy(String reason, String fix) -> {
        json.put("reason", reason);
        json.put("fix", fix);
      }
    }
    info.ifPresent(known -> describe(known, json));
    resources.ifPresent(host -> json.put("resources", json(host)));
    return json;
  }

  private static Map<String, ?> json(HostResources host) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("processors", host.processors());
    json.put("memoryMb", host.memoryMb());
    host.freeMemoryMb().ifPresent(free -> json.put("freeMemoryMb", free));
    host.diskMb().ifPresent(disk -> json.put("diskMb", disk));
    host.freeDiskMb().ifPresent(free -> json.put("freeDiskMb", free));
    return json;
  }

  private void describe(ProviderInfo known, Map<String, Object> json) {
    SpecSupport support = known.support();
    json.put("summary", known.summary());
    json.put("apiVersion", known.apiVersion().wireName());
    json.put("isolation", kebabCase(known.isolation()));
    json.put("accelerated", known.accelerated());
    json.put("capabilities", capabilities());
    json.put("forks", labels(ForkKind.of(known)));
    json.put("snapshots", labels(SnapshotKinds.of(known)));
    json.put("enforcedLimits", limits());
    json.put("images", support.has(SpecFeature.IMAGES));
    json.put("users", support.has(SpecFeature.USERS));
    json.put("networkModes", labels(support.networkModes()));
    json.put("volumeTypes", labels(support.volumeTypes()));
    json.put("cleanup", known.cleanup());
    json.put("startupMs", known.startup().toMillis());
    json.put("requirements", known.prerequisites().stream().map(ProviderReport::json).toList());
  }

  private static Map<String, ?> json(Prerequisite requirement) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("name", requirement.name());
    json.put("necessary", requirement.necessary());
    json.put("present", requirement.present());
    json.put("detail", requirement.detail());
    json.put("fix", requirement.fix());
    return json;
  }
}
