package dev.isola.conformance.leak;

import dev.isola.codec.proc.ProcessStat;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * A process that belongs to an installation, recognized by its command line (agents, supervisors),
 * its environment (commands) or a working folder inside the data folder.
 *
 * @param startTime in clock ticks since boot, because pids are reused
 */
record MarkedProcess(long pid, long startTime, String why, String commandLine) {
  private static final Path PROC = Path.of("/proc");
  private static final int MAX_COMMAND_LINE = 120;

  static List<MarkedProcess> find(ScanScope scope) {
    List<MarkedProcess> found = new ArrayList<>();
    long self = ProcessHandle.current().pid();
    for (String name : ProcFiles.names(PROC)) {
      if (Character.isDigit(name.charAt(0)) && Long.parseLong(name) != self) {
        look(PROC.resolve(name), scope).ifPresent(found::add);
      }
    }
    return found;
  }

  TrackedResource toResource() {
    String description = "process " + pid + " (" + commandLine + "), " + why;
    return new TrackedResource(TrackedResource.Kind.PROCESS, pid + "@" + startTime, description);
  }

  /**
   * Returns the network namespace as {@code net:[inode]}, or an empty string if the process is
   * gone.
   */
  String network() {
    return ProcFiles.link(PROC.resolve(pid + "/ns/net"));
  }

  static String ownNetwork() {
    return ProcFiles.link(PROC.resolve("self/ns/net"));
  }

  private static Optional<MarkedProcess> look(Path process, ScanScope scope) {
    List<String> description =
        Arrays.asList(ProcFiles.text(process.resolve("cmdline")).split("\0"));
    Optional<String> why =
        byCommandLine(description, scope)
            .or(() -> byEnvironment(process, scope))
            .or(() -> byFolder(process, scope));
    return why.flatMap(reason -> alive(process, reason, String.join(" ", description)));
  }

  private static Optional<String> byCommandLine(List<String> description, ScanScope scope) {
    Optional<String> instance = after(description, "--instance");
    Optional<String> sandbox = after(description, "--sandbox");
    return instance.isPresent() && sandbox.isPresent() && scope.ownsInstance(instance.get())
        ? Optional.of("an agent or supervisor of sandbox " + sandbox.get())
        : Optional.empty();
  }

  private static Optional<String> after(List<String> description, String option) {
    int at = description.indexOf(option);
    return at >= 0 && at + 1 < description.size()
        ? Optional.of(description.get(at + 1))
        : Optional.empty();
  }

  private static Optional<String> byEnvironment(Path process, ScanScope scope) {
    String instance = "";
    String sandbox = "";
    for (String variable : ProcFiles.text(process.resolve("environ")).split("\0")) {
      if (variable.startsWith("ISOLA_INSTANCE=")) {
        instance = variable.substring("ISOLA_INSTANCE=".length());
      } else if (variable.startsWith("ISOLA_SANDBOX=")) {
        sandbox = variable.substring("ISOLA_SANDBOX=".length());
      }
    }
    return !sandbox.isEmpty() && scope.ownsInstance(instance)
        ? Optional.of("a command of sandbox " + sandbox)
        : Optional.empty();
  }

  /** A command may clear its environment, but it still has a working folder. */
  private static Optional<String> byFolder(Path process, ScanScope scope) {
    if (scope.dataFolders().isEmpty()) {
      return Optional.empty();
    }
    String folder = ProcFiles.link(process.resolve("cwd"));
    return scope.ownsPath(folder) ? Optional.of("in " + folder) : Optional.empty();
  }

  private static Optional<MarkedProcess> alive(Path process, String why, String commandLine) {
    String shown =
        commandLine.length() > MAX_COMMAND_LINE
            ? commandLine.substring(0, MAX_COMMAND_LINE) + "…"
            : commandLine;
    return ProcessStat.read(process)
        .filter(stat -> !stat.isZombie())
        .map(
            stat ->
                new MarkedProcess(
                    Long.parseLong(process.getFileName().toString()),
                    stat.startTime(),
                    why,
                    shown.strip()));
  }
}
