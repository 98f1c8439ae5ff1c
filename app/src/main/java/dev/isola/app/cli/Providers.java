package dev.isola.app.cli;

import dev.isola.app.instance.InstanceClaim;
import dev.isola.engine.api.ProviderInstance;
import dev.isola.engine.api.ProviderNames;
import dev.isola.engine.api.ProviderStatus;
import dev.isola.engine.api.registry.ConfiguredProvider;
import dev.isola.engine.config.ProviderSettings;
import dev.isola.host.launch.SandboxProbe;
import dev.isola.spi.Health;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import java.io.IOException;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The providers on the class path. Each is created once, on first use. */
public final class Providers implements AutoCloseable {
  private final Map<String, ConfiguredProvider> known;
  private final Map<String, Provider> created = new LinkedHashMap<>();
  private @Nullable InstanceClaim claim;
  private final DataFolder data;
  private final InstantSource clock;

  Providers(Iterable<ProviderFactory> found, DataFolder data, InstantSource clock) {
    this(found, Map.of(), data, clock);
  }

  /**
   * @param settings by provider name; providers without an entry use their defaults
   */
  Providers(
      Iterable<ProviderFactory> found,
      Map<String, ProviderSettings> settings,
      DataFolder data,
      InstantSource clock) {
    Map<String, ProviderFactory> factories = new LinkedHashMap<>();
    for (ProviderFactory factory : found) {
      factories.putIfAbsent(factory.name(), factory);
    }
    known = ConfiguredProvider.all(factories, settings);
    this.data = data;
    this.clock = clock;
  }

  public List<String> names() {
    return List.copyOf(known.keySet());
  }

  /** Returns the instance of each provider, without creating the provider. */
  public Map<String, ProviderInstance> instances() {
    Map<String, ProviderInstance> instances = new LinkedHashMap<>();
    known.forEach((name, one) -> instances.put(name, one.instance()));
    return instances;
  }

  /** Makes the next health check of each provider boot a sandbox instead of reporting the last. */
  public void discardProbeResults() {
    for (ConfiguredProvider one : known.values()) {
      try {
        SandboxProbe.discardResults(data.path().resolve(one.folder()));
      } catch (IOException unusable) {
        // The health check reports a data folder that cannot be used.
      }
    }
  }

  /** Returns the programs that each provider declares, by provider name. */
  public Map<String, List<String>> programs() {
    Map<String, List<String>> programs = new LinkedHashMap<>();
    known.forEach((name, one) -> programs.put(name, one.factory().programs()));
    return programs;
  }

  /**
   * Returns the status of a provider. A provider that cannot be created or is disabled is
   * unhealthy, with the reason.
   */
  public ProviderStatus status(String name) {
    try {
      Provider provider = get(name);
      Health health = provider.health();
      return health.usable()
          ? new ProviderStatus(
              name, Optional.of(provider.info().withName(name)), health, clock.instant())
          : new ProviderStatus(name, Optional.empty(), health, clock.instant());
    } catch (SandboxException e) {
      return ProviderStatus.unavailable(
          name, e.fault().problem(), e.fault().remedy(), clock.instant());
    }
  }

  /**
   * Returns the provider with the given name.
   *
   * @throws dev.isola.spi.error.NotFound if there is none; the message lists the known names
   */
  public Provider get(String name) {
    Provider existing = created.get(name);
    if (existing != null) {
      return existing;
    }
    ConfiguredProvider configured = known.get(name);
    if (configured == null) {
      throw ProviderNames.unknown(name, known.keySet());
    }
    if (!configured.settings().enabled()) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "provider " + name + " is disabled in the configuration",
              "set providers." + name + ".enabled: true")
          .with("provider", name)
          .exception();
    }
    if (claim == null) {
      claim = data.claim();
    }
    Provider provider =
        configured.create(
            folder ->
                new ProviderContext(
                    data.instance(), data.providerFolder(folder), data.path(), clock));
    created.put(name, provider);
    return provider;
  }

  /** Closes all providers. Their sandboxes keep running. */
  @Override
  public void close() {
    created.values().forEach(Provider::close);
    created.clear();
    if (claim != null) {
      claim.close();
      claim = null;
    }
  }
}
