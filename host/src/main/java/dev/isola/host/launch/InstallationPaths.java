package dev.isola.host.launch;

import java.io.File;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The paths of Isola's own installation and configuration, which sandboxes must not see. */
final class InstallationPaths {
  private static final String NAME = "isola";
  private static final String JAR = "isola-host";

  private InstallationPaths() {}

  /** Returns the existing paths, both as configured and with symbolic links resolved. */
  static List<Path> existing(Map<String, String> env) {
    List<Path> all = new ArrayList<>(List.of(Path.of("/usr/lib/isola"), Path.of("/etc/isola")));
    String config = env.getOrDefault("ISOLA_CONFIG", "");
    if (!config.isEmpty()) {
      all.add(Path.of(config).toAbsolutePath().normalize());
    }
    CodeSource source = InstallationPaths.class.getProtectionDomain().getCodeSource();
    program(source == null ? null : source.getLocation(), System.getProperty("java.class.path", ""))
        .flatMap(InstallationPaths::top)
        .ifPresent(all::add);
    return all.stream()
        .filter(Files::exists)
        .flatMap(path -> real(path).stream())
        .distinct()
        .toList();
  }

  private static List<Path> real(Path path) {
    try {
      return List.of(path, path.toRealPath());
    } catch (java.io.IOException gone) {
      return List.of(path);
    }
  }

  /**
   * Returns the file that contains this class.
   *
   * @param location null for a class from an AOT cache that was made in a folder that does not
   *     exist here, as that of a release
   */
  static Optional<Path> program(@Nullable URL location, String classPath) {
    if (location == null) {
      return Stream.of(classPath.split(File.pathSeparator, -1))
          .map(Path::of)
          .filter(path -> path.getFileName().toString().startsWith(JAR))
          .findFirst();
    }
    try {
      return "file".equals(location.getProtocol())
          ? Optional.of(Path.of(location.toURI()))
          : Optional.empty();
    } catch (URISyntaxException e) {
      return Optional.empty();
    }
  }

  /** Returns the outermost folder of a path whose name starts with {@code isola}. */
  static Optional<Path> top(Path program) {
    for (int names = 1; names < program.getNameCount(); names++) {
      Path folder = program.getRoot().resolve(program.subpath(0, names));
      if (folder.getFileName().toString().startsWith(NAME)) {
        return Optional.of(folder);
      }
    }
    return Optional.empty();
  }
}
