package dev.isola.provider.microvm.firecracker;

import dev.isola.host.launch.HostProgram;
import dev.isola.host.program.KnownVulnerabilities;
import dev.isola.host.program.Version;
import dev.isola.host.program.Vulnerability;
import dev.isola.spi.provider.ProviderConfig;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The installed Firecracker and its jailer.
 *
 * @param version empty if the program does not report one
 * @param jailer empty if it is not installed
 * @param identity a text that changes when the program is replaced
 */
record FirecrackerProgram(
    Path path, Optional<Version> version, Optional<Jailer> jailer, String identity) {

  /** The installed jailer, which has the version of Firecracker. */
  record Jailer(Path path, Optional<Version> version) {}

  /** The setting that names the executable. */
  static final String SETTING = "program";

  /** The setting that names the jailer; by default it is beside Firecracker. */
  static final String JAILER_SETTING = "jailer";

  static final String NAME = "firecracker";

  /** By the identity of the program, because asking takes longer than the rest of a create. */
  private static final Map<String, Optional<Version>> VERSIONS = new ConcurrentHashMap<>();

  /** The first version that accepts the overrides and the clock when it loads a snapshot. */
  static final Version OLDEST = Version.of("1.16.0");

  /** Firecracker is in no package repository of a distribution. */
  static final String REMEDY =
      "download a release of the project (the releases page of firecracker-microvm/firecracker on"
          + " GitHub), and install its firecracker and jailer as "
          + "/usr/local/bin/firecracker and /usr/local/bin/jailer";

  /** Returns the installed program; empty if there is none. */
  static Optional<FirecrackerProgram> find(ProviderConfig config) {
    return HostProgram.find(config.get(SETTING).orElse(NAME))
        .map(
            found ->
                new FirecrackerProgram(
                    found.path(), version(found), jailer(config, found), found.identity()));
  }

  private static Optional<Jailer> jailer(ProviderConfig config, HostProgram firecracker) {
    String beside = firecracker.path().resolveSibling("jailer").toString();
    return HostProgram.find(config.get(JAILER_SETTING).orElse(beside))
        .map(found -> new Jailer(found.path(), version(found)));
  }

  private static Optional<Version> version(HostProgram program) {
    return VERSIONS.computeIfAbsent(program.identity(), _ -> ask(program));
  }

  private static Optional<Version> ask(HostProgram program) {
    HostProgram.Result answer = program.run("--version");
    return answer.ok() ? Version.find(answer.text()) : Optional.empty();
  }

  /** Returns the known vulnerabilities of this version. */
  List<Vulnerability> vulnerabilities() {
    return version.stream()
        .flatMap(
            found ->
                KnownVulnerabilities.of(NAME).stream().filter(flaw -> flaw.affects(found, false)))
        .toList();
  }
}
