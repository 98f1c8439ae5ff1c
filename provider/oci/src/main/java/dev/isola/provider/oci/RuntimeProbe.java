package dev.isola.provider.oci;

import dev.isola.host.launch.HostProgram;
import dev.isola.host.launch.SandboxProbe;
import dev.isola.host.launch.SandboxUserIds;
import dev.isola.host.program.PackageOrigin;
import dev.isola.host.program.Version;
import dev.isola.host.program.Vulnerability;
import dev.isola.spi.Health;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.provider.Prerequisite;
import dev.isola.spi.provider.ProviderConfig;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Detects the version of a runtime and whether it works on this host. */
final class RuntimeProbe {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final Duration FAILURE_TTL = Duration.ofSeconds(20);

  /** The cached version output of a program. */
  private record VersionOutput(String identity, String text) {}

  private final OciRuntime runtime;
  private final SandboxProbe probes;
  private final ProviderConfig config;
  private final Optional<String> configured;
  private volatile @Nullable VersionOutput versionOutput;
  private final Map<String, Boolean> accepted = new ConcurrentHashMap<>();

  /**
   * @param config its setting {@code program} names an executable other than the default
   */
  RuntimeProbe(OciRuntime runtime, ProviderConfig config, SandboxProbe probes) {
    this.runtime = runtime;
    this.probes = probes;
    this.config = config;
    this.configured = config.get("program");
  }

  Optional<HostProgram> program() {
    return HostProgram.find(configured.orElse(runtime.program()));
  }

  /**
   * Returns the path of the executable.
   *
   * @throws dev.isola.spi.error.ProviderUnavailable if it is not installed
   */
  String requirePath() {
    return program()
        .orElseThrow(
            () -> Fault.of(ErrorCode.PROVIDER_UNAVAILABLE, missing(), install()).exception())
        .path()
        .toString();
  }

  Health health() {
    Optional<HostProgram> program = program();
    if (program.isEmpty()) {
      return new Health.Unhealthy(missing(), install());
    }
    if (!SandboxUserIds.rangesAvailable()) {
      return new Health.Unhealthy(runtime.traits().name() + " needs root", rootRemedy());
    }
    Optional<String> text = versionOutput(program.get());
    Optional<Version> version = text.flatMap(this::parse);
    if (version.isEmpty()) {
      return new Health.Unhealthy(
          program.get().path() + " --version does not report the version of " + runtime.program(),
          install());
    }
    List<Vulnerability> flaws = vulnerabilities(version.get());
    if (!flaws.isEmpty() && !isFromDistribution(program.get(), text.get())) {
      return new Health.Unhealthy(
          runtime.program() + " " + version.get() + " has " + names(flaws),
          "install " + runtime.program() + " " + flaws.getLast().fixedVersions() + " or newer");
    }
    return probes
        .failure(
            new SandboxProbe.ProbeRequest(
                "sandbox",
                subject(program.get()),
                new OciIsolator(runtime, this),
                TIMEOUT,
                FAILURE_TTL))
        .<Health>map(
            why ->
                new Health.Unhealthy(
                    why, "check whether " + program.get().path() + " is the expected program"))
        .or(
            () ->
                runtime
                    .defect(version.get())
                    .map(what -> new Health.Degraded(what, runtime.install())))
        .orElseGet(() -> new Health.Healthy(healthy(version.get(), flaws)));
  }

  /** Returns a text that changes when the program or the configuration does. */
  String subject(HostProgram program) {
    return program.identity() + " " + new TreeMap<>(config.settings());
  }

  private static boolean isFromDistribution(HostProgram program, String versionOutput) {
    return PackageOrigin.isFromDistribution(program.path())
        || PackageOrigin.isFromDistribution(versionOutput);
  }

  private String healthy(Version version, List<Vulnerability> flaws) {
    StringBuilder text =
        new StringBuilder(runtime.program() + " " + version + " can create sandboxes");
    runtime.detail(this).ifPresent(detail -> text.append("; ").append(detail));
    if (!flaws.isEmpty()) {
      text.append("; ").append(note(flaws));
    }
    return text.toString();
  }

  private static String note(List<Vulnerability> flaws) {
    return "older than "
        + flaws.getLast().fixedVersions()
        + ", which fixes "
        + names(flaws)
        + "; the distribution may have backported the fix";
  }

  private static String names(List<Vulnerability> flaws) {
    return flaws.stream().flatMap(flaw -> flaw.ids().stream()).collect(Collectors.joining(", "));
  }

  List<Prerequisite> prerequisites() {
    List<Prerequisite> all = new ArrayList<>();
    Optional<Version> version = version();
    all.add(
        new Prerequisite(
            runtime.program(),
            true,
            version.isPresent(),
            version
                .map(
                    found ->
                        found
                            + (vulnerabilities(found).isEmpty()
                                ? ""
                                : ", " + note(vulnerabilities(found))))
                .orElse("not found"),
            version.isPresent() ? "" : install()));
    all.add(
        new Prerequisite(
            "root",
            true,
            SandboxUserIds.rangesAvailable(),
            SandboxUserIds.rangesAvailable() ? "available" : "not available",
            SandboxUserIds.rangesAvailable() ? "" : rootRemedy()));
    return all;
  }

  /** Returns the version; empty if it is not installed or does not report one. */
  Optional<Version> version() {
    return program().flatMap(this::versionOutput).flatMap(this::parse);
  }

  private Optional<Version> parse(String text) {
    Matcher found = runtime.versionPattern().matcher(text);
    try {
      return found.find() ? Optional.of(Version.of(found.group(1))) : Optional.empty();
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  private List<Vulnerability> vulnerabilities(Version version) {
    return runtime.vulnerabilities().stream().filter(flaw -> flaw.affects(version, false)).toList();
  }

  private Optional<String> versionOutput(HostProgram program) {
    VersionOutput known = versionOutput;
    if (known != null && known.identity().equals(program.identity())) {
      return Optional.of(known.text());
    }
    HostProgram.Result answer = program.run("--version");
    if (!answer.ok()) {
      return Optional.empty();
    }
    versionOutput = new VersionOutput(program.identity(), answer.text());
    return Optional.of(answer.text());
  }

  /** Reports whether the program accepts a global option. */
  boolean accepts(String option) {
    return program()
        .filter(
            found -> accepted.computeIfAbsent(found.identity() + option, _ -> run(found, option)))
        .isPresent();
  }

  private static boolean run(HostProgram program, String option) {
    return program.run(option, "--version").ok();
  }

  private String missing() {
    return configured
        .map(path -> "there is no program " + path)
        .orElse(runtime.program() + " is not installed");
  }

  private String install() {
    return runtime.install();
  }

  private static String rootRemedy() {
    return "run Isola as root, or use bubblewrap, which works without root";
  }
}
