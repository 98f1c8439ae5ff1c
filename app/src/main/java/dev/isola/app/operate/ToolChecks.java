package dev.isola.app.operate;

import dev.isola.host.program.PackageOrigin;
import dev.isola.host.program.Version;
import dev.isola.host.program.Vulnerability;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Checks which external programs are installed, in which version, and what the missing ones would
 * enable.
 *
 * @param folders search path, in order
 * @param declared programs of each installed provider, by provider name
 */
public record ToolChecks(
    List<Path> folders,
    Distribution packages,
    InstalledPackages installed,
    Map<String, List<String>> declared) {
  private static final int SETUID = 04000;

  /**
   * Folders that are usually only in root's PATH, although other users can run programs in them.
   */
  private static final List<String> SBIN_FOLDERS = List.of("/usr/local/sbin", "/usr/sbin", "/sbin");

  public ToolChecks {
    folders = List.copyOf(folders);
    declared = Map.copyOf(declared);
  }

  public static ToolChecks of(Map<String, String> environment, Map<String, List<String>> declared) {
    List<Path> folders = new ArrayList<>();
    String path = environment.getOrDefault("PATH", "/usr/local/bin:/usr/bin:/bin");
    for (String folder : path.split(File.pathSeparator)) {
      if (folder.startsWith("/")) {
        folders.add(Path.of(folder));
      }
    }
    SBIN_FOLDERS.forEach(folder -> folders.add(Path.of(folder)));
    return new ToolChecks(
        folders,
        Distribution.of(MachineChecks.read(Path.of("/etc/os-release"))),
        InstalledPackages.onThisMachine(),
        declared);
  }

  /** Checks all programs that Isola and its providers use. */
  public List<DoctorCheck> checks() {
    return checks(HostTool.all(declared));
  }

  /** Checks all programs concurrently: each may take several seconds. */
  List<DoctorCheck> checks(List<HostTool> tools) {
    List<Callable<DoctorCheck>> tasks = new ArrayList<>();
    for (HostTool tool : tools) {
      tasks.add(() -> check(tool));
    }
    List<DoctorCheck> checks = new ArrayList<>();
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      for (Future<DoctorCheck> result : executor.invokeAll(tasks)) {
        checks.add(result.get());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    }
    return checks;
  }

  private DoctorCheck check(HostTool tool) {
    Optional<Path> program = find(tool.command());
    if (program.isEmpty()) {
      return DoctorCheck.bad(
          tool.command(),
          "not found; enables " + tool.purpose() + provider(tool),
          tool.installCommand(packages));
    }
    String output = "";
    if (!tool.versionArgument().isEmpty()) {
      output =
          ProgramProbe.run(program.get().toString(), tool.versionArgument())
              .map(ProgramProbe::output)
              .orElse("");
    }
    return evaluate(tool, program.get(), output);
  }

  /** Names the providers that use a program, to help decide whether to install it. */
  private String provider(HostTool tool) {
    List<String> users =
        declared.entrySet().stream()
            .filter(provider -> provider.getValue().contains(tool.command()))
            .map(Map.Entry::getKey)
            .sorted()
            .toList();
    if (users.isEmpty()) {
      return tool.backend() ? " (not used by any installed provider)" : "";
    }
    return (users.size() == 1 ? " (provider " : " (providers ") + String.join(", ", users) + ")";
  }

  private Optional<Path> find(String command) {
    return folders.stream()
        .map(folder -> folder.resolve(command))
        .filter(path -> Files.isRegularFile(path) && Files.isExecutable(path))
        .findFirst();
  }

  /** Evaluates the version that a program printed. */
  DoctorCheck evaluate(HostTool tool, Path program, String output) {
    String value = value(tool, program, output);
    Optional<Version> relevantVersion = relevantVersion(tool, output);
    if (relevantVersion.isEmpty() && !tool.vulnerabilities().isEmpty()) {
      String safe = tool.vulnerabilities().getLast().fixedVersions();
      return DoctorCheck.warning(
          tool.command(), value, "its version is unknown: check that it is " + safe + " or newer");
    }
    boolean setuid = setuid(program);
    List<Vulnerability> affecting =
        tool.vulnerabilities().stream()
            .filter(vulnerability -> vulnerability.affects(relevantVersion.orElseThrow(), setuid))
            .toList();
    if (affecting.isEmpty()) {
      return DoctorCheck.good(tool.command(), value);
    }
    String newer = affecting.getLast().fixedVersions() + " or newer";
    if (!PackageOrigin.isFromDistribution(program)) {
      return DoctorCheck.bad(
          tool.command(),
          value + " is affected by " + names(affecting, name -> true),
          "install " + newer);
    }
    // Distributions fix vulnerabilities without changing the upstream version.
    String packaged = tool.packages().getOrDefault(packages, tool.command());
    String open = names(affecting, name -> !installed.changelogMentions(packaged, name));
    return open.isEmpty()
        ? DoctorCheck.good(tool.command(), value)
        : DoctorCheck.warning(
            tool.command(),
            value,
            "check that your distribution has fixed "
                + open
                + " in this package (upstream: "
                + newer
                + ")");
  }

  private String value(HostTool tool, Path program, String output) {
    Optional<String> packaged =
        PackageOrigin.isFromDistribution(program)
            ? installed.version(tool.packages().getOrDefault(packages, tool.command()))
            : Optional.empty();
    String displayed =
        Version.find(output).map(Version::text).or(() -> packaged).orElse("version unknown");
    String packageNote =
        packaged
            .filter(version -> !version.equals(displayed))
            .map(version -> " (package " + version + ")")
            .orElse("");
    return displayed + packageNote + ", " + program;
  }

  private static Optional<Version> relevantVersion(HostTool tool, String output) {
    int from = output.indexOf(tool.versionPrefix());
    return from < 0 ? Optional.empty() : Version.find(output.substring(from));
  }

  private static String names(List<Vulnerability> affecting, Predicate<String> filter) {
    return affecting.stream()
        .flatMap(vulnerability -> vulnerability.ids().stream())
        .filter(filter)
        .collect(Collectors.joining(", "));
  }

  private static boolean setuid(Path program) {
    try {
      return ((int) Files.getAttribute(program, "unix:mode") & SETUID) != 0;
    } catch (IOException | UnsupportedOperationException e) {
      return false;
    }
  }
}
