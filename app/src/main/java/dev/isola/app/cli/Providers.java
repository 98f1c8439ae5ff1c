package dev.isola.app.cli;

import dev.isola.document.NearMiss;
import dev.isola.engine.api.Standing;
import dev.isola.engine.config.ProviderSettings;
import dev.isola.spi.Health;
import dev.isola.spi.Provider;
import dev.isola.spi.ProviderContext;
import dev.isola.spi.ProviderFactory;
import dev.isola.spi.ProviderProfile;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The providers found on the class path: each is made when it is first asked for, and once. */
public final class Providers implements AutoCloseable {
  private final Map<String, ProviderFactory> factories = new LinkedHashMap<>();
  private final Map<String, Provider> made = new LinkedHashMap<>();
  private final DataFolder data;
  private final InstantSource clock;
  private final Map<String, ProviderSettings> settings;

  Providers(Iterable<ProviderFactory> found, DataFolder data, InstantSource clock) {
    this(found, Map.of(), data, clock);
  }

  /**
   * @param settings by the provider's name; none for the others
   */
  Providers(
      Iterable<ProviderFactory> found,
      Map<String, ProviderSettings> settings,
      DataFolder data,
      InstantSource clock) {
    this.settings = Map.copyOf(settings);
    for (ProviderFactory factory : found) {
      factories.putIfAbsent(factory.name(), factory);
    }
    this.data = data;
    this.clock = clock;
  }

  public List<String> names() {
    return List.copyOf(factories.keySet());
  }

  /** Returns what is known of each without making it. */
  public Map<String, ProviderProfile> profiles() {
    Map<String, ProviderProfile> profiles = new LinkedHashMap<>();
    factories.forEach((name, factory) -> profiles.put(name, factory.profile()));
    return profiles;
  }

  /** Asks one how it is; one that cannot be made or is turned off is unhealthy, with the reason. */
  public Standing standing(String name) {
    try {
      Provider provider = get(name);
      Health health = provider.health();
      return health.usable()
          ? new Standing(name, Optional.of(provider.info()), health, clock.instant())
          : new Standing(name, Optional.empty(), health, clock.instant());
    } catch (SandboxException e) {
      return Standing.absent(name, e.fault().what(), e.fault().remedy(), clock.instant());
    }
  }

  /**
   * Returns the provider of that name.
   *
   * @throws dev.isola.spi.error.NotFound when there is none; the message lists those there are
   */
  public Provider get(String name) {
    Provider known = made.get(name);
    if (known != null) {
      return known;
    }
    ProviderFactory factory = factories.get(name);
    if (factory == null) {
      throw unknown(name);
    }
    ProviderSettings chosen = settings.getOrDefault(name, ProviderSettings.none(name));
    if (!chosen.enabled()) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "provider " + name + " is turned off by config",
              "set providers." + name + ".enabled: true")
          .with("provider", name)
          .exception();
    }
    ProviderContext context =
        new ProviderContext(data.instance(), data.folderOf(name), data.path(), clock);
    Provider provider = factory.create(chosen.config(), context);
    made.put(name, provider);
    return provider;
  }

  private RuntimeException unknown(String name) {
    String known = factories.isEmpty() ? "none" : String.join(", ", factories.keySet());
    String remedy =
        NearMiss.of(name, factories.keySet())
            .map(near -> "did you mean " + near + "? Known: " + known)
            .orElse("known: " + known);
    return Fault.of(ErrorCode.PROVIDER_NOT_FOUND, "no provider is named '" + name + "'", remedy)
        .with("provider", name)
        .exception();
  }

  /** Lets go of all of them; sandboxes go on. */
  @Override
  public void close() {
    made.values().forEach(Provider::close);
    made.clear();
  }
}
