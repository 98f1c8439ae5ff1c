package dev.isola.app;

import dev.isola.spi.Provider;
import dev.isola.spi.ProviderConfig;
import dev.isola.spi.ProviderContext;
import dev.isola.spi.ProviderFactory;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.spec.NearMiss;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The providers found on the class path: each is made when it is first asked for, and once. */
final class Providers implements AutoCloseable {
  private final Map<String, ProviderFactory> factories = new LinkedHashMap<>();
  private final Map<String, Provider> made = new LinkedHashMap<>();
  private final DataFolder data;
  private final InstantSource clock;

  Providers(Iterable<ProviderFactory> found, DataFolder data, InstantSource clock) {
    for (ProviderFactory factory : found) {
      factories.putIfAbsent(factory.name(), factory);
    }
    this.data = data;
    this.clock = clock;
  }

  List<String> names() {
    return List.copyOf(factories.keySet());
  }

  boolean has(String name) {
    return factories.containsKey(name);
  }

  /**
   * Returns the provider of that name.
   *
   * @throws dev.isola.spi.error.NotFound when there is none; the message lists those there are
   */
  Provider get(String name) {
    Provider known = made.get(name);
    if (known != null) {
      return known;
    }
    ProviderFactory factory = factories.get(name);
    if (factory == null) {
      throw unknown(name);
    }
    ProviderContext context =
        new ProviderContext(data.instance(), data.folderOf(name), data.path(), clock);
    Provider provider = factory.create(ProviderConfig.EMPTY, context);
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
