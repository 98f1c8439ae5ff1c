package dev.isola.provider.oci;

import dev.isola.host.launch.HostProgram;
import dev.isola.host.launch.Users;
import dev.isola.host.program.Flaw;
import dev.isola.host.program.Origin;
import dev.isola.host.program.Version;
import dev.isola.spi.Health;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.provider.Prerequisite;
import dev.isola.spi.provider.ProviderConfig;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Finds out what a runtime is on this machine and whether it works. */
final class RuntimeProbe {
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final Duration BAD = Duration.ofSeconds(20);

  /** What a program says of itself, as long as it is the same program. */
  private record Said(String identity, String text) {}

  private final OciRuntime runtime;
  private final Trials trials;
  private final Optional<String> configured;
  private volatile @Nullable Said said;

  /**
   * @param config its setting {@code program} names the executable, where it is not the usual one
   */
  RuntimeProbe(OciRuntime runtime, ProviderConfig config, Trials trials) {
    this.runtime = runtime;
    this.trials = trials;
    this.configured = config.get("program");
  }

  Optional<HostProgram> program() {
    return HostProgram.find(configured.orElse(runtime.program()));
  }

  /**
   * Returns the path of the executable.
   *
   * @throws dev.isola.spi.error.ProviderUnavailable when there is none
   */
  String need() {
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
    if (!Users.areRanges()) {
      return new Health.Unhealthy(
          runtime.traits().name() + " makes sandboxes only as root", elsewhere());
    }
    Optional<String> text = says(program.get());
    Optional<Version> version = text.flatMap(this::parse);
    if (version.isEmpty()) {
      return new Health.Unhealthy(
          program.get().path() + " --version does not say the version of " + runtime.program(),
          install());
    }
    List<Flaw> flaws = flaws(version.get());
    if (!flaws.isEmpty() && !distributed(program.get(), text.get())) {
      return new Health.Unhealthy(
          runtime.program() + " " + version.get() + " has " + names(flaws),
          "install " + runtime.program() + " " + flaws.getLast().remedy() + " or newer");
    }
    return trials
        .problem(
            new Trials.Question(
                "sandbox " + program.get().identity(),
                new OciIsolator(runtime, this),
                PATIENCE,
                BAD))
        .<Health>map(why -> new Health.Unhealthy(why, "see what " + program.get().path() + " is"))
        .or(
            () ->
                runtime
                    .defect(version.get())
                    .map(what -> new Health.Degraded(what, runtime.install())))
        .orElseGet(() -> new Health.Healthy(healthy(version.get(), flaws)));
  }

  private static boolean distributed(HostProgram program, String said) {
    return Origin.distributed(program.path()) || Origin.distributed(said);
  }

  private String healthy(Version version, List<Flaw> flaws) {
    StringBuilder text = new StringBuilder(runtime.program() + " " + version + " made a sandbox");
    runtime.detail().ifPresent(detail -> text.append("; ").append(detail));
    if (!flaws.isEmpty()) {
      text.append("; ").append(note(flaws));
    }
    return text.toString();
  }

  private static String note(List<Flaw> flaws) {
    return "older than "
        + flaws.getLast().remedy()
        + ", which mended "
        + names(flaws)
        + "; the distribution that built it may have done so before";
  }

  private static String names(List<Flaw> flaws) {
    return flaws.stream().flatMap(flaw -> flaw.names().stream()).collect(Collectors.joining(", "));
  }

  List<Prerequisite> requirements() {
    List<Prerequisite> all = new ArrayList<>();
    Optional<Version> version = version();
    all.add(
        new Prerequisite(
            runtime.program(),
            true,
            version.isPresent(),
            version
                .map(found -> found + (flaws(found).isEmpty() ? "" : ", " + note(flaws(found))))
                .orElse("not found"),
            version.isPresent() ? "" : install()));
    all.add(
        new Prerequisite(
            "root",
            true,
            Users.areRanges(),
            Users.areRanges() ? "to be had" : "not to be had",
            Users.areRanges() ? "" : elsewhere()));
    return all;
  }

  /** Returns the version; empty where there is none, or it does not say. */
  Optional<Version> version() {
    return program().flatMap(this::says).flatMap(this::parse);
  }

  private Optional<Version> parse(String text) {
    Matcher found = runtime.version().matcher(text);
    try {
      return found.find() ? Optional.of(Version.of(found.group(1))) : Optional.empty();
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  private List<Flaw> flaws(Version version) {
    return runtime.flaws().stream().filter(flaw -> flaw.in(version, false)).toList();
  }

  private Optional<String> says(HostProgram program) {
    Said known = said;
    if (known != null && known.identity().equals(program.identity())) {
      return Optional.of(known.text());
    }
    HostProgram.Answer answer = program.ask("--version");
    if (!answer.ok()) {
      return Optional.empty();
    }
    said = new Said(program.identity(), answer.text());
    return Optional.of(answer.text());
  }

  private String missing() {
    return configured
        .map(path -> "there is no program " + path)
        .orElse(runtime.program() + " is not installed");
  }

  private String install() {
    return runtime.install();
  }

  private static String elsewhere() {
    return "run Isola as root, or use bubblewrap, which needs no root";
  }
}
