package dev.isola.provider.docker;

import dev.isola.codec.json.JsonValue;
import dev.isola.host.program.KnownVulnerabilities;
import dev.isola.host.program.PackageOrigin;
import dev.isola.host.program.Version;
import dev.isola.host.program.Vulnerability;
import dev.isola.spi.LimitKind;
import dev.isola.spi.provider.HostResources;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What an engine reports about itself.
 *
 * @param remapsUsers whether the container's root is an unprivileged user on the host
 *     (userns-remap, rootless)
 * @param privateCgroups whether a container has a private cgroup namespace, which Podman does not
 *     support with cgroup v1
 * @param kernel the kernel release of the host
 * @param runtimes the available runtimes by name, each with the path of its program or the type of
 *     its shim if the engine reports it
 * @param reportsDiskUsage whether the agent can measure what a sandbox writes. The agent kills
 *     commands that exceed the limit, but only after the fact, so the limit is not declared as
 *     enforced
 * @param processes the maximum number of processes per user on this machine; empty if unknown
 * @param resources the resources of the engine's machine; an engine does not report what is free
 * @param defects known defects of components that do not come from a distribution
 * @param notes notes on components with affected versions that come from a distribution, which may
 *     have backported fixes
 */
record EngineInfo(
    String version,
    boolean podman,
    boolean rootless,
    boolean remapsUsers,
    boolean privateCgroups,
    String kernel,
    String architecture,
    NavigableMap<String, String> runtimes,
    Set<LimitKind> limits,
    boolean reportsDiskUsage,
    OptionalLong processes,
    Optional<HostResources> resources,
    List<String> defects,
    List<String> notes) {

  private static final Pattern PROCESSES = Pattern.compile("^Max processes +\\S+ +(\\d{1,9}) ");

  /**
   * Storage drivers with which the agent can tell written files from image files by their change
   * time. Other drivers copy the image.
   */
  private static final Set<String> LAYERED = Set.of("overlay", "overlay2");

  private static final Pattern RUNTIME = Pattern.compile("OCI Runtime \\((\\w+)\\)");

  /**
   * @param packaged whether the engine was installed by the distribution's package manager, which
   *     Podman does not report
   */
  static EngineInfo of(JsonValue version, JsonValue info, boolean packaged) {
    boolean podman = false;
    List<String> flaws = new ArrayList<>();
    List<String> notes = new ArrayList<>();
    for (JsonValue part : version.at("Components").items()) {
      String name = part.text("Name");
      podman |= name.startsWith("Podman");
      String said = part + (packaged && name.startsWith("Podman") ? "+ds" : "");
      judge(program(name), part.text("Version"), said, flaws, notes);
    }
    Set<String> options = new TreeSet<>();
    info.at("SecurityOptions").items().forEach(option -> options.add(option.text()));
    boolean rootless = options.contains("name=rootless");
    NavigableMap<String, String> runtimes = new TreeMap<>();
    info.at("Runtimes")
        .members()
        .forEach((name, runtime) -> runtimes.put(name, runtimeProgram(runtime)));
    return new EngineInfo(
        version.text("Version"),
        podman,
        rootless,
        rootless || options.contains("name=userns"),
        !podman || !info.text("CgroupVersion").equals("1"),
        info.text("KernelVersion"),
        info.text("Architecture"),
        runtimes,
        limits(info),
        LAYERED.contains(info.text("Driver")),
        ownProcesses(),
        resources(info),
        flaws,
        notes);
  }

  private static Optional<HostResources> resources(JsonValue info) {
    long processors = info.number("NCPU");
    long memoryMb = info.number("MemTotal") / (1 << 20);
    return processors > 0 && processors < Integer.MAX_VALUE && memoryMb > 0
        ? Optional.of(new HostResources((int) processors, memoryMb))
        : Optional.empty();
  }

  private static String runtimeProgram(JsonValue runtime) {
    String shim = runtime.text("runtimeType");
    return shim.isEmpty() ? runtime.text("path") : shim;
  }

  /** Returns the name under which vulnerabilities of a component are known. */
  private static String program(String component) {
    Matcher runtime = RUNTIME.matcher(component);
    if (runtime.matches()) {
      return runtime.group(1);
    }
    return switch (component) {
      case "Engine" -> "dockerd";
      case "Podman Engine" -> "podman";
      default -> component;
    };
  }

  private static void judge(
      String program, String version, String said, List<String> flaws, List<String> notes) {
    Optional<Version> found = Version.find(version);
    if (found.isEmpty()) {
      return;
    }
    List<Vulnerability> has =
        KnownVulnerabilities.of(program).stream()
            .filter(flaw -> flaw.affects(found.get(), false))
            .toList();
    if (has.isEmpty()) {
      return;
    }
    String names = String.join(", ", has.stream().flatMap(flaw -> flaw.ids().stream()).toList());
    String text = program + " " + found.get() + " is affected by " + names;
    if (PackageOrigin.isFromDistribution(said)) {
      notes.add(
          text
              + " according to its version (fixed in "
              + has.getLast().fixedVersions()
              + "); the distribution may have backported the fix");
    } else {
      flaws.add(text + "; install " + has.getLast().fixedVersions() + " or newer");
    }
  }

  private static OptionalLong ownProcesses() {
    try (Stream<String> lines = Files.lines(Path.of("/proc/self/limits"))) {
      return lines
          .map(PROCESSES::matcher)
          .filter(Matcher::find)
          .mapToLong(found -> Long.parseLong(found.group(1)))
          .findFirst();
    } catch (IOException | UncheckedIOException unknown) {
      return OptionalLong.empty();
    }
  }

  /** The agent enforces the limits that the engine does not, as far as it can. */
  private static Set<LimitKind> limits(JsonValue info) {
    Set<LimitKind> kinds = EnumSet.of(LimitKind.FILE_DESCRIPTORS, LimitKind.TIMEOUT);
    if (info.flag("MemoryLimit")) {
      kinds.add(LimitKind.MEMORY);
    }
    if (info.flag("CpuCfsQuota")) {
      kinds.add(LimitKind.CPU);
    }
    if (info.flag("PidsLimit")) {
      kinds.add(LimitKind.PROCESSES);
      kinds.add(LimitKind.THREADS);
    }
    return kinds;
  }

  /** Returns the first of the given runtimes that the engine has. */
  Optional<String> runtime(List<String> names) {
    return names.stream().filter(runtimes::containsKey).findFirst();
  }

  /** Returns the program or shim of a runtime; empty if the engine does not report it. */
  String runtimeProgram(String runtime) {
    return runtimes.getOrDefault(runtime, "");
  }
}
