package dev.isola.spi.spec;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** Validates specs. Every rule is checked, so that the client learns of all violations at once. */
public final class SpecValidation {
  private static final Pattern ENV_NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");
  private static final Pattern DOMAIN =
      Pattern.compile(
          "(\\*\\.)?([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)*[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?");
  private static final Duration MAX_DURATION = Duration.ofDays(3650);

  /** A document of one megabyte may have a hundred thousand violations. */
  private static final int MAX_REPORTED = 100;

  private static final int MAX_SEED_BYTES = 64 * 1024 * 1024;

  private final List<Violation> found = new ArrayList<>();

  private SpecValidation() {}

  /** Returns the violations of {@code spec}. Checks only the spec itself, not the host. */
  public static List<Violation> violations(SandboxSpec spec) {
    SpecValidation validation = new SpecValidation();
    validation.checkBasics(spec);
    validation.checkFolders(spec);
    validation.checkVolumes(spec);
    validation.checkLimits(spec.limits());
    validation.checkNetwork(spec.network());
    return List.copyOf(validation.found);
  }

  /**
   * Returns the host paths in {@code spec} that do not exist on this host. Providers that use host
   * paths call it first.
   */
  public static List<Violation> hostViolations(SandboxSpec spec) {
    SpecValidation validation = new SpecValidation();
    spec.workspacePath()
        .ifPresent(
            path ->
                validation.require(
                    Files.isDirectory(path),
                    "workspacePath",
                    "is not a folder on this host: " + path));
    for (VolumeMount volume : spec.volumes()) {
      if (volume.type() == VolumeMount.Type.BIND) {
        validation.require(
            Files.exists(Path.of(volume.source())),
            "volumes",
            "has a source that does not exist on this host: " + volume.source());
      }
    }
    return List.copyOf(validation.found);
  }

  /** Throws {@code INVALID_SPEC} if there are any violations. */
  public static void throwIfInvalid(List<Violation> violations) {
    throwIfInvalid(ErrorCode.INVALID_SPEC, "the spec", violations);
  }

  /**
   * Throws {@code code} if there are any violations.
   *
   * @param what the invalid document, such as {@code the spec}
   */
  public static void throwIfInvalid(ErrorCode code, String what, List<Violation> violations) {
    if (violations.isEmpty()) {
      return;
    }
    List<Violation> reported = violations.subList(0, Math.min(MAX_REPORTED, violations.size()));
    String more =
        reported.size() < violations.size()
            ? "; and " + (violations.size() - reported.size()) + " more"
            : "";
    Fault fault =
        Fault.of(
            code,
            what
                + " is invalid: "
                + String.join("; ", reported.stream().map(Violation::toString).toList())
                + more,
            violations.size() == 1
                ? "correct this field"
                : "correct these " + violations.size() + " fields");
    for (Violation violation : reported) {
      String before = fault.context().get(violation.field());
      fault =
          fault.with(
              violation.field(), (before == null ? "" : before + "; ") + violation.problem());
    }
    throw fault.exception();
  }

  private void checkBasics(SandboxSpec spec) {
    spec.image().ifPresent(image -> text("image", image, SpecBounds.LONGEST_IMAGE));
    variables("env", spec.env());
    Map<String, String> revealed = spec.environment();
    revealed.keySet().retainAll(spec.secretEnv().keySet());
    variables("secretEnv", revealed);
    spec.secretEnv()
        .keySet()
        .forEach(
            name -> require(!spec.env().containsKey(name), "secretEnv." + name, "is in env too"));
    spec.user().ifPresent(user -> text("user", user, SpecBounds.LONGEST_USER));
    positive("startupTimeout", spec.startupTimeout());
    spec.deadline().ifPresent(deadline -> positive("deadline", deadline));
    spec.linger()
        .ifPresent(
            linger ->
                require(
                    !linger.isNegative() && linger.compareTo(MAX_DURATION) <= 0,
                    "linger",
                    "must be 0 to 3650 days"));
    within("gpus", spec.gpus(), SpecBounds.GPUS);
  }

  /** Reports the names of invalid variables, never their values. */
  private void variables(String field, Map<String, String> env) {
    env.forEach(
        (name, value) -> {
          require(ENV_NAME.matcher(name).matches(), field, "has an invalid name: '" + name + "'");
          require(value.indexOf('\0') < 0, field + "." + name, "contains a NUL");
        });
  }

  private void checkFolders(SandboxSpec spec) {
    absolute("workspaceMount", spec.workspaceMount());
    mountable("workspaceMount", "cannot be", spec.workspaceMount());
    spec.cwd().ifPresent(cwd -> absolute("cwd", cwd));
    spec.workspacePath()
        .ifPresent(
            path -> require(path.isAbsolute(), "workspacePath", "must be absolute: " + path));
    long seedBytes = 0;
    for (var seed : spec.seedFiles().entrySet()) {
      text("seedFiles", seed.getKey(), 4096);
      require(noDotDot(seed.getKey()), "seedFiles", "has a path with '..': " + seed.getKey());
      seedBytes += seed.getValue().size();
    }
    require(
        seedBytes <= MAX_SEED_BYTES,
        "seedFiles",
        "hold more than 64 MiB; upload them after create");
  }

  private void checkVolumes(SandboxSpec spec) {
    Set<String> destinations = new HashSet<>();
    for (VolumeMount volume : spec.volumes()) {
      absolute("volumes", volume.destination());
      mountable("volumes", "cannot be mounted on", volume.destination());
      require(
          destinations.add(ReservedPaths.normalize(volume.destination())),
          "volumes",
          "are mounted twice on " + volume.destination());
      switch (volume.type()) {
        case BIND -> absolute("volumes", volume.source());
        case VOLUME ->
            require(
                VolumeMount.isValidName(volume.source()),
                "volumes",
                "has an invalid name: '" + volume.source() + "'");
        case TMPFS -> require(volume.source().isEmpty(), "volumes", "of type tmpfs have no source");
      }
    }
  }

  private void checkLimits(ResourceLimits limits) {
    require(
        limits.cpu() > 0 && limits.cpu() <= SpecBounds.MAX_CPU,
        "limits.cpu",
        "must be more than 0 and at most 1024");
    within("limits.memoryMb", limits.memoryMb(), SpecBounds.MEMORY_MB);
    within("limits.diskMb", limits.diskMb(), SpecBounds.DISK_MB);
    within("limits.fileDescriptors", limits.fileDescriptors(), SpecBounds.FILE_DESCRIPTORS);
    within("limits.processes", limits.processes(), SpecBounds.PROCESSES);
    within("limits.threads", limits.threads(), SpecBounds.THREADS);
    within("limits.bandwidthMbps", limits.bandwidthMbps(), SpecBounds.BANDWIDTH_MBPS);
    limits.timeout().ifPresent(timeout -> positive("limits.timeout", timeout));
  }

  private void checkNetwork(Network network) {
    network.allowDomains().forEach(domain -> domain("network.allowDomains", network, domain));
    network.blockDomains().forEach(domain -> domain("network.blockDomains", network, domain));
    network.exposePorts().forEach(port -> within("network.exposePorts", port, SpecBounds.PORT));
    require(
        network.mode().filter(mode -> mode == NetworkMode.NONE).isEmpty()
            || network.allowDomains().isEmpty(),
        "network.allowDomains",
        "must be empty in network mode none");
    require(
        network.isFiltered() || network.egress().equals(Egress.NONE),
        "network.egress",
        "is for network mode filtered only");
    found.addAll(EgressValidation.violations("network.egress", network.egress()));
  }

  private void domain(String field, Network network, String domain) {
    require(
        domain.length() <= 253
            && DOMAIN.matcher(domain).matches()
            && (!network.isFiltered() || Destination.parse(domain).isPresent()),
        field,
        "has an entry that is not a domain: '" + domain + "'");
  }

  private void text(String field, String value, int maxLength) {
    require(!value.isBlank(), field, "is blank");
    require(value.length() <= maxLength, field, "is longer than " + maxLength + " characters");
    require(value.indexOf('\0') < 0, field, "contains a NUL");
  }

  private void absolute(String field, String path) {
    require(path.startsWith("/"), field, "must be an absolute path: '" + path + "'");
    require(noDotDot(path), field, "contains '..': '" + path + "'");
    require(path.indexOf('\0') < 0, field, "contains a NUL");
  }

  private void mountable(String field, String cannot, String path) {
    if (ReservedPaths.normalize(path).equals("/")) {
      require(false, field, cannot + " the root folder");
      return;
    }
    ReservedPaths.overlapping(path)
        .ifPresent(
            reserved ->
                require(
                    false,
                    field,
                    cannot + " " + path + ": " + reserved + " is reserved; choose another path"));
  }

  private void positive(String field, Duration duration) {
    require(
        duration.isPositive() && duration.compareTo(MAX_DURATION) <= 0,
        field,
        "must be more than 0 and at most 3650 days");
  }

  private void within(String field, long value, SpecBounds.Range range) {
    range.problem(value).ifPresent(problem -> found.add(new Violation(field, problem)));
  }

  private static boolean noDotDot(String path) {
    return !List.of(path.split("/")).contains("..");
  }

  private void require(boolean ok, String field, String problem) {
    if (!ok) {
      found.add(new Violation(field, problem));
    }
  }
}
