package dev.isola.provider.proot;

import dev.isola.host.launch.HostProgram;
import dev.isola.host.program.Version;
import dev.isola.spi.Health;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.provider.Prerequisite;
import dev.isola.spi.provider.ProviderConfig;
import java.util.Optional;

/**
 * Checks whether PRoot works on this machine, by its version and by running a program: a version
 * too old for the kernel starts and crashes.
 *
 * @param name of the program, or its path
 */
record ProotProbe(String name) {
  private static final String INSTALL = "install it (apt-get install proot)";
  private static final String NEWER =
      "install a newer PRoot (5.4 or later) built for this machine, or use another provider";

  /**
   * With 5.1.0 the agent crashes in the conformance checks of links; versions in between were not
   * available for testing.
   */
  private static final Version MIN_VERSION = Version.of("5.4");

  private static final int SEGMENTATION_FAULT = 139;

  /** The setting {@code program} names another executable. */
  static ProotProbe of(ProviderConfig config) {
    return new ProotProbe(config.get("program").orElse("proot"));
  }

  /**
   * Returns the path of the executable.
   *
   * @throws dev.isola.spi.error.ProviderUnavailable when it is not installed
   */
  String executable() {
    return HostProgram.find(name)
        .orElseThrow(
            () ->
                Fault.of(ErrorCode.PROVIDER_UNAVAILABLE, name + " is not installed", INSTALL)
                    .exception())
        .path()
        .toString();
  }

  Prerequisite requirement() {
    return switch (health()) {
      case Health.Healthy(String detail) -> new Prerequisite("proot", true, true, detail, "");
      case Health.Degraded(String reason, String fix) ->
          new Prerequisite("proot", true, true, reason, fix);
      case Health.Unhealthy(String reason, String fix) ->
          new Prerequisite("proot", true, false, reason, fix);
    };
  }

  Health health() {
    Optional<HostProgram> program = HostProgram.find(name);
    if (program.isEmpty()) {
      return new Health.Unhealthy(name + " is not installed", INSTALL);
    }
    Optional<Version> version = Version.find(program.get().run("--version").text());
    if (version.isPresent() && !version.get().atLeast(MIN_VERSION)) {
      return new Health.Unhealthy(
          "PRoot " + version.get() + " crashes when the agent follows some links", NEWER);
    }
    // The shell has another path inside, so it runs only if path translation works.
    HostProgram.Result answer =
        program.get().run("-b", "/bin/sh:/isola-probe", "/isola-probe", "-c", "echo works");
    if (answer.ok() && answer.text().equals("works")) {
      return new Health.Healthy("it can run programs");
    }
    String failure =
        answer.code() == SEGMENTATION_FAULT
            ? "it crashes on this kernel"
            : "it exited with status " + answer.code() + ": " + answer.text();
    return new Health.Unhealthy("proot cannot run a program: " + failure, NEWER);
  }
}
