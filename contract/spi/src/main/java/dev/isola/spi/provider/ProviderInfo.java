package dev.isola.spi.provider;

import dev.isola.spi.Hosting;
import dev.isola.spi.Isolation;
import dev.isola.spi.LimitKind;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.spec.ApiVersion;
import dev.isola.spi.spec.SandboxSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * What a provider says of itself. Everything declared is true on this machine now, not in general.
 *
 * @param name stable and unique; used in config, answers and stored records
 * @param apiVersion of the specs it takes
 * @param cleanup how it makes sure that a sandbox's processes are all gone, in words
 * @param startup an estimate of how long create takes
 * @param hosting what has to run for its sandboxes
 */
public record ProviderInfo(
    String name,
    String summary,
    ApiVersion apiVersion,
    Isolation isolation,
    Set<Class<? extends Capability>> capabilities,
    SpecSupport support,
    List<Prerequisite> prerequisites,
    String cleanup,
    Duration startup,
    Hosting hosting) {
  public ProviderInfo {
    capabilities = Set.copyOf(capabilities);
    prerequisites = List.copyOf(prerequisites);
  }

  /** Describes a provider that starts sandboxes itself, on this machine. */
  public ProviderInfo(
      String name,
      String summary,
      ApiVersion apiVersion,
      Isolation isolation,
      Set<Class<? extends Capability>> capabilities,
      SpecSupport support,
      List<Prerequisite> requirements,
      String cleanup,
      Duration startup) {
    this(
        name,
        summary,
        apiVersion,
        isolation,
        capabilities,
        support,
        requirements,
        cleanup,
        startup,
        Hosting.LOCAL);
  }

  /** Returns the same description under the name of a configured instance. */
  public ProviderInfo withName(String instance) {
    return instance.equals(name)
        ? this
        : new ProviderInfo(
            instance,
            summary,
            apiVersion,
            isolation,
            capabilities,
            support,
            prerequisites,
            cleanup,
            startup,
            hosting);
  }

  /** Returns the declared facts with those that hold on this machine in their place. */
  public ProviderProfile profile(ProviderProfile declared) {
    return new ProviderProfile(
        isolation, hosting, startup, declared.cost(), declared.onlyWhenNamed());
  }

  /**
   * Returns what {@code spec} asks for and {@code requirements} demand that is not declared here,
   * in words; empty when the provider can take it. The one place that decides it: for the selector,
   * for {@link #requireSupported} and for who wants to know before.
   */
  public List<String> missing(SandboxSpec spec, Requirements requirements) {
    List<String> missing = new ArrayList<>(support.missing(spec));
    if (!isolation.isAtLeast(requirements.isolation())) {
      missing.add("isolation " + word(requirements.isolation()));
    }
    for (LimitKind kind : LimitKind.values()) {
      if (requirements.limits().contains(kind) && !support.enforces(kind, spec)) {
        missing.add("enforcing the limit of " + word(kind));
      }
    }
    Capability.all().stream()
        .filter(one -> requirements.capabilities().contains(one) && !capabilities.contains(one))
        .forEach(one -> missing.add(Capability.idOf(one)));
    return missing;
  }

  /**
   * Refuses a spec that asks for something that is not declared here. A provider calls it first in
   * its create: not every caller is an engine.
   *
   * @throws dev.isola.spi.error.Unsupported naming everything that is missing
   */
  public void requireSupported(SandboxSpec spec) {
    List<String> missing = missing(spec, Requirements.NONE);
    if (!missing.isEmpty()) {
      throw Capability.unsupported(name, String.join(", ", missing));
    }
  }

  private static String word(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
