package dev.isola.engine.api.registry;

import dev.isola.engine.api.ProviderStatus;
import dev.isola.spi.provider.ProviderFactory;
import java.time.Instant;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The provider factories on the class path. A factory that cannot be loaded, or cannot return its
 * name, is listed by its class name and does not affect the others.
 */
final class ProviderFactories {
  /** Matches the message of ServiceLoader, the only source for the name of the failed class. */
  private static final Pattern CLASS = Pattern.compile("Provider ([\\w.$]+)");

  /** Bounds the loop, in case the iterator fails forever. */
  private static final int MOST_BROKEN = 100;

  final Map<String, ProviderFactory> factories = new LinkedHashMap<>();
  final Map<String, ProviderStatus> broken = new LinkedHashMap<>();

  ProviderFactories(Iterable<ProviderFactory> found, Instant now) {
    Iterator<ProviderFactory> iterator = found.iterator();
    while (broken.size() < MOST_BROKEN) {
      ProviderFactory factory = null;
      try {
        if (!iterator.hasNext()) {
          return;
        }
        factory = iterator.next();
        factories.putIfAbsent(factory.name(), factory);
      } catch (RuntimeException | LinkageError | ServiceConfigurationError e) {
        String name = nameOf(factory, e);
        broken.put(
            name,
            ProviderStatus.unavailable(
                name,
                "could not be loaded: " + cause(e),
                "remove it from the class path, or report the problem",
                now));
      }
    }
  }

  private String nameOf(@Nullable ProviderFactory factory, Throwable e) {
    if (factory != null) {
      return factory.getClass().getName();
    }
    Matcher named = CLASS.matcher(String.valueOf(e.getMessage()));
    return named.find() ? named.group(1) : "unknown-" + (broken.size() + 1);
  }

  static String cause(Throwable e) {
    Throwable cause = e.getCause();
    return cause == null ? e.toString() : e.getMessage() + ": " + cause;
  }
}
