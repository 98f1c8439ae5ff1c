package dev.isola.app.operate;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.zip.GZIPInputStream;

/**
 * Packages that dpkg lists as installed. Empty on distributions without dpkg.
 *
 * @param versions by package, including the distribution's revision
 * @param docFolder contains one folder per package with its changelog
 */
record InstalledPackages(Map<String, String> versions, Path docFolder) {
  private static final int LONGEST_CHANGELOG = 4 << 20;

  InstalledPackages {
    versions = Map.copyOf(versions);
  }

  static InstalledPackages onThisMachine() {
    return of(MachineChecks.read(Path.of("/var/lib/dpkg/status")), Path.of("/usr/share/doc"));
  }

  static InstalledPackages of(String dpkgStatus, Path documents) {
    Map<String, String> versions = new HashMap<>();
    String name = "";
    boolean installed = false;
    for (String line : dpkgStatus.lines().toList()) {
      if (line.startsWith("Package: ")) {
        name = line.substring("Package: ".length());
        installed = false;
      } else if (line.startsWith("Status: ")) {
        installed = line.endsWith(" installed");
      } else if (installed && line.startsWith("Version: ")) {
        versions.put(name, line.substring("Version: ".length()));
      }
    }
    return new InstalledPackages(versions, documents);
  }

  Optional<String> version(String name) {
    return Optional.ofNullable(versions.get(name));
  }

  /**
   * Returns whether the package's changelog mentions a vulnerability. Minimal images contain no
   * changelogs.
   */
  boolean changelogMentions(String name, String vulnerability) {
    Path changelog = docFolder.resolve(name).resolve("changelog.Debian.gz");
    try (InputStream in = new GZIPInputStream(Files.newInputStream(changelog))) {
      return new String(in.readNBytes(LONGEST_CHANGELOG), StandardCharsets.UTF_8)
          .contains(vulnerability);
    } catch (IOException e) {
      return false;
    }
  }
}
