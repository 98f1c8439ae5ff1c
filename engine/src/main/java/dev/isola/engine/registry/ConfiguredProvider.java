package dev.isola.engine.registry;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.engine.api.ProviderInstance;
import dev.isola.engine.config.ProviderSettings;
import dev.isola.spi.InstanceId;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.provider.ProviderProfile;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/** A provider that can be made: a type on the class path with the settings of one instance. */
public record ConfiguredProvider(
    ProviderInstance instance, ProviderFactory factory, ProviderSettings settings) {
  /** The folder of instances beside the types, whose names no instance can take. */
  private static final String FOLDER = "instances/";

  /**
   * Returns an instance of each type, and those that the settings add, by name.
   *
   * @param factories by the name of their type
   * @param settings by the name of the instance; those of unknown types are left out
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
        new ProviderInstance(settings.name(), settings.type(), settings.region(), profile(factory)),
        factory,
        settings);
  }

  /** A type that fails already here may still be made. */
  private static ProviderProfile profile(ProviderFactory factory) {
    try {
      return factory.profile();
    } catch (RuntimeException | LinkageError e) {
      return ProviderProfile.UNKNOWN;
    }
  }

  /**
   * Makes the provider. An instance with a name of its own has its own folder, and an id of its own
   * for what it makes: two instances at one backend do not take sandboxes of each other for theirs.
   *
   * @param contexts asked for the context with the folder of the given name
   */
  public Provider create(Function<String, ProviderContext> contexts) {
    String name = instance.name();
    if (name.equals(instance.type())) {
      return factory.create(settings.config(), contexts.apply(name));
    }
    ProviderContext context = contexts.apply(FOLDER + name);
    return factory.create(
        settings.config(),
        new ProviderContext(
            instanceId(context.instance(), name),
            context.dataFolder(),
            context.sharedFolder(),
            context.clock()));
  }

  private static InstanceId instanceId(InstanceId installation, String name) {
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-256").digest((installation + "/" + name).getBytes(UTF_8));
      int length = Math.max(8, installation.value().length());
      return new InstanceId(HexFormat.of().formatHex(hash).substring(0, length));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
