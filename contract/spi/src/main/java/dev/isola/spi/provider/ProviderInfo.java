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
 * Describes a provider. Every declaration holds on this machine now, not just in general.
 *
 * @param name stable and unique; used in configuration, API responses and stored records
 * @param apiVersion the version of the specs that it accepts
 * @param cleanup a description of how it ensures that no process of a sandbox survives
 * @param startup an estimate of how long a create takes
 * @param hosting where its sandboxes run
 * @param accelerated whether sandboxes run on the processors of the machine; false if software
 *     emulates the processors, which makes everything in the sandbox many times slower
 * @param lacks the parts of the contract that its sandboxes do not have
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
    Hosting hosting,
    boolean accelerated,
    Set<BasicFeature> lacks) {
  public ProviderInfo {
    capabilities = Set.copyOf(capabilities);
    prerequisites = List.copyOf(prerequisites);
    lacks = Set.copyOf(lacks);
  }

  /** Describes a provider whose sandboxes run on the processors of the machine. */
  public ProviderInfo(
      String name,
      String summary,
      ApiVersion apiVersion,
      Isolation isolation,
      Set<Class<? extends Capability>> capabilities,
      SpecSupport support,
      List<Prerequisite> requirements,
      String cleanup,
      Duration startup,
      Hosting hosting) {
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
        hosting,
        true,
        Set.of());
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

  /** Returns this description under the name of a configured instance. */
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
            hosting,
            accelerated,
            lacks);
  }

  /** Returns this description for a provider whose processors are emulated by software. */
  public ProviderInfo withEmulation() {
    return new ProviderInfo(
        name,
        summary,
        apiVersion,
        isolation,
        capabilities,
        support,
        prerequisites,
        cleanup,
        startup,
        hosting,
        false,
        lacks);
  }

  /** Returns this description for a provider whose sandboxes do not have these features. */
  public ProviderInfo lacking(Set<BasicFeature> features) {
    return new ProviderInfo(
        name,
        summary,
        apiVersion,
        isolation,
        capabilities,
        support,
        prerequisites,
        cleanup,
        startup,
        hosting,
        accelerated,
        features);
  }

  /** Returns {@code declared} with the values that hold on this machine. */
  public ProviderProfile profile(ProviderProfile declared) {
    return new ProviderProfile(
        isolation,
        hosting,
        startup,
        declared.cost(),
        declared.onlyWhenNamed(),
        accelerated,
        declared.shared());
  }

  /**
   * Returns the features that {@code spec} requests or {@code requirements} demand and that are not
   * declared here, in words. Empty if the provider can create the sandbox. The selector and {@link
   * #requireSupported} both use it, so that they never disagree.
   */
  public List<String> missing(SandboxSpec spec, Requirements requirements) {
    List<String> missing = new ArrayList<>(support.missing(spec));
    if (!isolation.isAtLeast(requirements.isolation())) {
      missing.add("isolation " + word(requirements.isolation()));
    }
    for (LimitKind kind : LimitKind.values()) {
      if (requirements.limits().contains(kind) && !support.enforces(kind, spec)) {
        missing.add("enforcement of the limit on " + word(kind));
      }
    }
    Capability.all().stream()
        .filter(one -> requirements.capabilities().contains(one) && !capabilities.contains(one))
        .forEach(one -> missing.add(Capability.idOf(one)));
    return missing;
  }

  /**
   * Rejects a spec that requests an undeclared feature. A provider calls it first in its create,
   * because the engine is not the only caller.
   *
   * @throws dev.isola.spi.error.Unsupported naming every missing feature
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
