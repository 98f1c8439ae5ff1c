package dev.isola.app.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The folder with jars of providers that are not part of a release. The launcher names it, or the
 * variable {@value #VARIABLE}. What is in them runs with all rights of the server.
 */
final class PluginFolder {
  static final String VARIABLE = "ISOLA_PLUGINS";
  private static final String PROPERTY = "isola.plugins";

  private PluginFolder() {}

  /** Returns a class loader for our own jars and then those of the folder. */
  static ClassLoader classLoader() {
    return classLoader(
        Optional.ofNullable(System.getenv(VARIABLE))
            .or(() -> Optional.ofNullable(System.getProperty(PROPERTY)))
            .map(Path::of));
  }

  static ClassLoader classLoader(Optional<Path> folder) {
    ClassLoader own = PluginFolder.class.getClassLoader();
    List<URL> jars = folder.filter(Files::isDirectory).map(PluginFolder::jars).orElse(List.of());
    return jars.isEmpty()
        ? own
        : new URLClassLoader("plugins", jars.toArray(URL[]::new), own); // open until the JVM ends
  }

  /**
   * In the order of their names, so that two with the same provider give the same one each time.
   */
  private static List<URL> jars(Path folder) {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .filter(file -> file.toString().endsWith(".jar"))
          .sorted()
          .map(PluginFolder::url)
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read the plugins in " + folder, e);
    }
  }

  private static URL url(Path jar) {
    try {
      return jar.toUri().toURL();
    } catch (MalformedURLException e) {
      throw new IllegalStateException(e);
    }
  }
}
