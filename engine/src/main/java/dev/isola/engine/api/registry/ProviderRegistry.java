package dev.isola.engine.api.registry;

import dev.isola.document.field.Suggestion;
import dev.isola.engine.api.Log;
import dev.isola.engine.api.ProviderInstance;
import dev.isola.engine.api.ProviderNames;
import dev.isola.engine.api.ProviderStatus;
import dev.isola.engine.config.ProviderSettings;
import dev.isola.engine.decorator.ProviderDecorator;
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
 * The providers of this installation, each created once. A provider that cannot be created is
 * listed as unavailable with the reason and does not affect the others.
 */
public final class ProviderRegistry implements AutoCloseable {
  private final Map<String, Provider> providers = new TreeMap<>();
  private final Map<String, ProviderInstance> instances = new TreeMap<>();
  private final Map<String, ProviderStatus> unavailable = new TreeMap<>();
  private final Log log;

  private ProviderRegistry(Log log) {
    this.log = log;
  }

  /** Creates all providers on the class path. */
  public static ProviderRegistry open(
      Map<String, ProviderSettings> settings,
      Function<String, ProviderContext> contexts,
      InstantSource clock,
      Log log) {
    return open(ServiceLoader.load(ProviderFactory.class), settings, contexts, clock, log);
  }

  /**
   * Creates the providers of these factories and the configured instances.
   *
   * @param settings by provider name; other providers use defaults
   * @param contexts returns the context of a provider, by folder name
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
        .forEach(one -> log.info("provider " + one.name() + " is unavailable: " + reason(one)));
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
          name,
          "is disabled by the configuration",
          "set providers." + name + ".enabled: true",
          clock);
      return;
    }
    try {
      providers.put(name, new ProviderDecorator(name, one.create(contexts)));
    } catch (SandboxException e) {
      markUnavailable(
          name, "could not be created: " + e.fault().problem(), e.fault().remedy(), clock);
    } catch (RuntimeException | Error e) {
      markUnavailable(
          name, "could not be created: " + e, "check its settings, or disable it", clock);
    }
  }

  private void markUnavailable(String name, String reason, String fix, InstantSource clock) {
    unavailable.put(name, ProviderStatus.unavailable(name, reason, fix, clock.instant()));
  }

  /** Returns all provider names, including unavailable ones. */
  public List<String> names() {
    TreeSet<String> names = new TreeSet<>(providers.keySet());
    names.addAll(unavailable.keySet());
    return List.copyOf(names);
  }

  /** Returns the available providers, by name. */
  public Map<String, Provider> providers() {
    return Collections.unmodifiableMap(providers);
  }

  /** Returns all instances, including unavailable ones, by name. */
  public Map<String, ProviderInstance> instances() {
    return Collections.unmodifiableMap(instances);
  }

  /** Returns the providers that could not be created or are disabled. */
  public List<ProviderStatus> unavailable() {
    return List.copyOf(unavailable.values());
  }

  /**
   * Returns a provider by name or alias.
   *
   * @throws dev.isola.spi.error.NotFound if there is none; the message suggests a similar name
   * @throws dev.isola.spi.error.ProviderUnavailable if it could not be created or is disabled
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

  private static String reason(ProviderStatus status) {
    return status.health() instanceof Health.Unhealthy(String reason, String _) ? reason : "";
  }

  /** Closes all providers; sandboxes keep running. */
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
