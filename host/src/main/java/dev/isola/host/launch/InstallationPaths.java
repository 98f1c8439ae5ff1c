package dev.isola.host.launch;

import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The paths of Isola's own installation and configuration, which sandboxes must not see. */
final class InstallationPaths {
  private static final String NAME = "isola";

  private InstallationPaths() {}

  /** Returns the existing paths, both as configured and with symbolic links resolved. */
  static List<Path> existing(Map<String, String> env) {
    List<Path> all = new ArrayList<>(List.of(Path.of("/usr/lib/isola"), Path.of("/etc/isola")));
    String config = env.getOrDefault("ISOLA_CONFIG", "");
    if (!config.isEmpty()) {
      all.add(Path.of(config).toAbsolutePath().normalize());
    }
    program().flatMap(InstallationPaths::top).ifPresent(all::add);
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

  private static Optional<Path> program() {
    CodeSource source = InstallationPaths.class.getProtectionDomain().getCodeSource();
    try {
      return source == null || !"file".equals(source.getLocation().getProtocol())
          ? Optional.empty()
          : Optional.of(Path.of(source.getLocation().toURI()));
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
