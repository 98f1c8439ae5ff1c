package dev.isola.provider.bubblewrap;

import dev.isola.host.launch.HostProgram;
import dev.isola.host.launch.SandboxProbe;
import dev.isola.link.local.UserNamespaceRestriction;
import dev.isola.spi.Health;
import dev.isola.spi.provider.Prerequisite;
import dev.isola.spi.provider.ProviderConfig;
import java.time.Duration;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Probes whether bubblewrap is installed and can create namespaces, and how the last boot of a
 * sandbox ended.
 */
final class BubblewrapProbe {
  private static final Duration BOOT_TIMEOUT = Duration.ofSeconds(20);
  private static final Duration FAILURE_TTL = Duration.ofSeconds(20);
  private static final String PROGRAM = "bwrap";
  private static final String INSTALL = "install bubblewrap (apt-get install bubblewrap)";
  private static final String[] NAMESPACES = {
    "--unshare-user",
    "--unshare-pid",
    "--unshare-net",
    "--ro-bind",
    "/",
    "/",
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "true"
  };

  private final ProviderConfig config;
  private final SandboxProbe boots;

  /**
   * @param config its setting {@code program} names an executable other than the default
   */
  BubblewrapProbe(ProviderConfig config, SandboxProbe boots) {
    this.config = config;
    this.boots = boots;
  }

  /** Returns the program as the launcher looks it up. */
  String name() {
    return config.get("program").orElse(PROGRAM);
  }

  private Optional<HostProgram> find() {
    return HostProgram.find(name());
  }

  Prerequisite program() {
    Optional<HostProgram.Result> version = find().map(found -> found.run("--version"));
    boolean works = version.filter(HostProgram.Result::ok).isPresent();
    return new Prerequisite(
        PROGRAM,
        true,
        works,
        version.map(HostProgram.Result::text).orElse("not found"),
        works ? "" : INSTALL);
  }

  Prerequisite namespaces() {
    Optional<HostProgram.Result> result = find().map(found -> found.run(NAMESPACES));
    boolean works = result.filter(HostProgram.Result::ok).isPresent();
    return new Prerequisite(
        "user, pid and network namespaces",
        true,
        works,
        works
            ? "available"
            : result.map(HostProgram.Result::text).orElse("not probed: " + missing()),
        works ? "" : result.isPresent() ? UserNamespaceRestriction.detect().remedy() : INSTALL);
  }

  Health health(BubblewrapIsolator isolator) {
    Optional<HostProgram> program = find();
    if (program.isEmpty()) {
      return new Health.Unhealthy(missing(), INSTALL);
    }
    HostProgram.Result result = program.get().run(NAMESPACES);
    if (!result.ok()) {
      return new Health.Unhealthy(
          "bwrap cannot create namespaces: " + result.text(),
          UserNamespaceRestriction.detect().remedy());
    }
    return boots
        .failure(
            new SandboxProbe.ProbeRequest(
                "sandbox",
                program.get().identity() + " " + new TreeMap<>(config.settings()),
                isolator,
                BOOT_TIMEOUT,
                FAILURE_TTL))
        .<Health>map(
            why ->
                new Health.Unhealthy(
                    "a sandbox did not start: " + why,
                    "check whether "
                        + program.get().path()
                        + " is the expected program, then run isola doctor"))
        .orElseGet(() -> new Health.Healthy(program.get().path() + " can create sandboxes"));
  }

  private String missing() {
    return config
        .get("program")
        .map(path -> "there is no program " + path)
        .orElse("bwrap is not installed");
  }
}
