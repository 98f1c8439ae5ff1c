package dev.isola.engine.api.registry;

import dev.isola.codec.digest.Sha256;
import dev.isola.engine.api.ProviderInstance;
import dev.isola.engine.config.ProviderSettings;
import dev.isola.spi.InstanceId;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.provider.ProviderProfile;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/** A provider type on the class path with the settings of one instance. */
public record ConfiguredProvider(
    ProviderInstance instance, ProviderFactory factory, ProviderSettings settings) {
  /** The parent folder of named instances; no type can have this name. */
  private static final String FOLDER = "instances/";

  /**
   * Returns the default instance of each type and the configured instances, by name.
   *
   * @param factories by type name
   * @param settings by instance name; settings of unknown types are ignored
   */
  public static Map<String, ConfiguredProvider> all(
      Map<String, ProviderFactory> factories, Map<String, ProviderSettings> settings) {
    Map<String, ConfiguredProvider> all = new TreeMap<>();
    factories.forEach(
        (type, factory) ->
            all.put(
                type, of(factory, settings.getOrDefault(type, ProviderSettings.defaults(type)))));
    settings.forEach(
        (name, one) -> {
          ProviderFactory factory = factories.get(one.type());
          if (factory != null) {
            all.putIfAbsent(name, of(factory, one));
          }
        });
    return all;
  }

  private static ConfiguredProvider of(ProviderFactory factory, ProviderSettings settings) {
    return new ConfiguredProvider(
        new ProviderInstance(
            settings.name(), settings.type(), settings.region(), settings.own(), profile(factory)),
        factory,
        settings);
  }

  /** Returns the declared profile. A factory that fails here may still create a provider. */
  private static ProviderProfile profile(ProviderFactory factory) {
    try {
      return factory.profile();
    } catch (RuntimeException | LinkageError e) {
      return ProviderProfile.UNKNOWN;
    }
  }

  /** Returns the name of its folder in the data folder of the installation. */
  public String folder() {
    String name = instance.name();
    return name.equals(instance.type()) ? name : FOLDER + name;
  }

  /**
   * Creates the provider. A named instance has its own folder and its own instance id, so that two
   * instances at one backend do not claim the sandboxes of each other.
   *
   * @param contexts returns the context with the folder of the given name
   */
  public Provider create(Function<String, ProviderContext> contexts) {
    String name = instance.name();
    ProviderContext context = contexts.apply(folder());
    if (name.equals(instance.type())) {
      return factory.create(settings.config(), context);
    }
    return factory.create(
        settings.config(),
        new ProviderContext(
            instanceId(context.instance(), name),
            context.dataFolder(),
            context.sharedFolder(),
            context.clock()));
  }

  private static InstanceId instanceId(InstanceId installation, String name) {
    int length = Math.max(8, installation.value().length());
    return new InstanceId(Sha256.hex(installation + "/" + name).substring(0, length));
  }
}
