package dev.isola.egress.policy;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.spec.EgressAction;
import dev.isola.spi.spec.EgressRule;
import dev.isola.spi.spec.PortRange;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Named lists of rules. The operator replaces them and adds others. */
public final class Presets {
  private static final PortRange HTTPS = PortRange.of(443);
  private static final PortRange HTTP = PortRange.of(80);
  private static final PortRange SSH = PortRange.of(22);

  private Presets() {}

  /** Returns the presets of Isola itself; see docs/egress.md. */
  public static Map<String, List<EgressRule>> builtIn() {
    Map<String, List<EgressRule>> presets = new TreeMap<>();
    presets.put("none", List.of());
    presets.put(
        "package-registries",
        Stream.of(
                "pypi.org", // Python
                "files.pythonhosted.org",
                "registry.npmjs.org", // JavaScript
                "registry.yarnpkg.com",
                "repo.maven.apache.org", // Java
                "repo1.maven.org",
                "plugins.gradle.org",
                "services.gradle.org",
                "proxy.golang.org", // Go
                "sum.golang.org",
                "index.crates.io", // Rust
                "static.crates.io",
                "crates.io",
                "rubygems.org", // Ruby
                "index.rubygems.org",
                "packagist.org", // PHP
                "repo.packagist.org",
                "deb.debian.org", // Linux distributions
                "security.debian.org",
                "archive.ubuntu.com",
                "security.ubuntu.com",
                "ports.ubuntu.com",
                "dl-cdn.alpinelinux.org")
            .map(host -> new EgressRule(EgressAction.ALLOW, host, List.of(HTTPS, HTTP), List.of()))
            .toList());
    presets.put(
        "github",
        Stream.of(
                "github.com",
                "api.github.com",
                "codeload.github.com",
                "raw.githubusercontent.com",
                "objects.githubusercontent.com",
                "release-assets.githubusercontent.com",
                "github-cloud.githubusercontent.com",
                "uploads.github.com",
                "ghcr.io",
                "pkg-containers.githubusercontent.com",
                "ssh.github.com")
            .map(host -> new EgressRule(EgressAction.ALLOW, host, List.of(HTTPS, SSH), List.of()))
            .toList());
    return presets;
  }

  static List<EgressRule> require(Map<String, List<EgressRule>> presets, String name) {
    List<EgressRule> rules = presets.get(name);
    if (rules == null) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "there is no egress preset '" + name + "'",
              "use one of " + String.join(", ", presets.keySet().stream().sorted().toList()))
          .exception();
    }
    return rules;
  }
}
