package dev.isola.engine.registry;

import dev.isola.document.Suggestion;
import dev.isola.engine.api.Log;
import dev.isola.engine.api.ProviderInstance;
import dev.isola.engine.api.ProviderNames;
import dev.isola.engine.api.ProviderStatus;
import dev.isola.engine.config.ProviderSettings;
import dev.isola.spi.Health;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * The providers of this installation, each made once. One that cannot be made is listed with its
 * reason and takes nobody down.
 */
public final class ProviderRegistry implements AutoCloseable {
  private final Map<String, Provider> providers = new TreeMap<>();
  private final Map<String, ProviderInstance> instances = new TreeMap<>();
  private final Map<String, ProviderStatus> unavailable = new TreeMap<>();
  private final Log log;

  private ProviderRegistry(Log log) {
    this.log = log;
  }

  /** Makes all providers on the class path. */
  public static ProviderRegistry open(
      Map<String, ProviderSettings> settings,
      Function<String, ProviderContext> contexts,
      InstantSource clock,
      Log log) {
    return open(ServiceLoader.load(ProviderFactory.class), settings, contexts, clock, log);
  }

  /**
   * Makes the providers of these factories, and the instances of them that the settings add.
   *
   * @param settings by the provider's name; none for the others
   * @param contexts asked for the context of each, by the name of its folder, when it is made
   */
  public static ProviderRegistry open(
      Iterable<ProviderFactory> factories,
      Map<String, ProviderSettings> settings,
      Function<String, ProviderContext> contexts,
      InstantSource clock,
      Log log) {
    ProviderRegistry registry = new ProviderRegistry(log);
    ProviderFactories found = new ProviderFactories(factories, clock.instant());
    registry.unavailable.putAll(found.broken);
    ConfiguredProvider.all(found.factories, settings)
        .values()
        .forEach(one -> registry.add(one, contexts, clock));
    registry
        .unavailable
        .values()
        .forEach(one -> log.info("provider " + one.name() + " is not used: " + reason(one)));
    for (String name : settings.keySet()) {
      if (!registry.names().contains(name)) {
        log.warning(
            "there are settings for "
                + name
                + ", but no provider of that name"
                + Suggestion.hint(name, registry.names()));
      }
    }
    return registry;
  }

  private void add(
      ConfiguredProvider one, Function<String, ProviderContext> contexts, InstantSource clock) {
    String name = one.instance().name();
    instances.put(name, one.instance());
    if (!one.settings().enabled()) {
      markUnavailable(
          name, "is turned off by config", "set providers." + name + ".enabled: true", clock);
      return;
    }
    try {
      providers.put(name, new GuardedProvider(name, one.create(contexts)));
    } catch (SandboxException e) {
      markUnavailable(name, "could not be made: " + e.fault().problem(), e.fault().remedy(), clock);
    } catch (RuntimeException | Error e) {
      markUnavailable(name, "could not be made: " + e, "check its settings, or turn it off", clock);
    }
  }

  private void markUnavailable(String name, String reason, String fix, InstantSource clock) {
    unavailable.put(name, ProviderStatus.unavailable(name, reason, fix, clock.instant()));
  }

  /** Returns the names of all, also of those that could not be made. */
  public List<String> names() {
    TreeSet<String> names = new TreeSet<>(providers.keySet());
    names.addAll(unavailable.keySet());
    return List.copyOf(names);
  }

  /** Returns those that could be made, by name. */
  public Map<String, Provider> providers() {
    return Collections.unmodifiableMap(providers);
  }

  /** Returns what is declared of all, by name. */
  public Map<String, ProviderInstance> instances() {
    return Collections.unmodifiableMap(instances);
  }

  /** Returns those that could not be made or are turned off. */
  public List<ProviderStatus> unavailable() {
    return List.copyOf(unavailable.values());
  }

  /**
   * Returns the provider of that name, or of that other name.
   *
   * @throws dev.isola.spi.error.NotFound when there is none; the message says who was probably
   *     meant
   * @throws dev.isola.spi.error.ProviderUnavailable when it could not be made or is turned off
   */
  public Provider get(String anyName) {
    String name = ProviderNames.canonical(anyName);
    Provider provider = providers.get(name);
    if (provider != null) {
      return provider;
    }
    ProviderStatus missing = unavailable.get(name);
    if (missing == null) {
      throw ProviderNames.unknown(anyName, names());
    }
    Health.Unhealthy why = (Health.Unhealthy) missing.health();
    throw Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE, "provider " + name + " " + why.reason(), why.fix())
        .with("provider", name)
        .exception();
  }

  private static String reason(ProviderStatus standing) {
    return standing.health() instanceof Health.Unhealthy(String reason, String _) ? reason : "";
  }

  /** Lets go of all providers; sandboxes go on. */
  @Override
  public void close() {
    for (Map.Entry<String, Provider> entry : new ArrayList<>(providers.entrySet())) {
      try {
        entry.getValue().close();
      } catch (RuntimeException e) {
        log.warning("provider " + entry.getKey() + " could not be closed: " + e);
      }
    }
    providers.clear();
  }
}
