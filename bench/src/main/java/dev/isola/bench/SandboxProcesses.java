package dev.isola.bench;

import dev.isola.codec.proc.ProcessStat;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The processes of sandboxes as seen by the host, and their private memory. A process belongs to a
 * sandbox if its cgroup, command line or environment names the sandbox's id, or if its parent
 * belongs to it.
 */
final class SandboxProcesses {
  private final Path proc;

  SandboxProcesses(Path proc) {
    this.proc = proc;
  }

  /** Returns the pids of each sandbox; an empty list for a sandbox without processes. */
  Map<String, List<Long>> of(Collection<String> ids) throws IOException {
    Map<Long, Long> parents = new TreeMap<>();
    Map<Long, String> homes = new HashMap<>();
    for (long pid : pids()) {
      parents.put(pid, stat(pid).map(ProcessStat::parent).orElse(0L));
      String marks = text(pid, "cgroup") + text(pid, "cmdline") + text(pid, "environ");
      for (String id : ids) {
        if (marks.contains(id)) {
          homes.put(pid, id);
          break;
        }
      }
    }
    Map<String, List<Long>> residents = new LinkedHashMap<>();
    ids.forEach(id -> residents.put(id, new ArrayList<>()));
    for (long pid : parents.keySet()) {
      String home = owningSandbox(pid, parents, homes);
      if (!home.isEmpty()) {
        residents.computeIfAbsent(home, id -> new ArrayList<>()).add(pid);
      }
    }
    return residents;
  }

  private static String owningSandbox(long pid, Map<Long, Long> parents, Map<Long, String> homes) {
    long at = pid;
    for (int generation = 0; generation <= parents.size(); generation++) {
      String home = homes.get(at);
      if (home != null) {
        return home;
      }
      Long parent = parents.get(at);
      if (parent == null || parent <= 1) {
        break;
      }
      at = parent;
    }
    return "";
  }

  /**
   * Returns the private memory of a process; empty if the process has ended or access is denied.
   */
  OptionalLong privateBytes(String pid) {
    try {
      return privateBytesOf(
          Files.readString(proc.resolve(pid).resolve("smaps_rollup"), StandardCharsets.ISO_8859_1));
    } catch (IOException e) {
      return OptionalLong.empty();
    }
  }

  /** Tells whether a process is running; a zombie is not. */
  boolean isRunning(long pid) {
    return stat(pid).filter(process -> !process.isZombie()).isPresent();
  }

  /** Returns the sum of the private lines of {@code smaps_rollup}; empty if there are none. */
  static OptionalLong privateBytesOf(String rollup) {
    long kilobytes = 0;
    boolean found = false;
    for (String line : rollup.lines().toList()) {
      if (line.startsWith("Private_Clean:")
          || line.startsWith("Private_Dirty:")
          || line.startsWith("Private_Hugetlb:")) {
        String[] arguments = line.split("\\s+");
        kilobytes += Long.parseLong(arguments[1]);
        found = true;
      }
    }
    return found ? OptionalLong.of(kilobytes * 1024) : OptionalLong.empty();
  }

  private List<Long> pids() throws IOException {
    try (Stream<Path> entries = Files.list(proc)) {
      return entries
          .map(entry -> entry.getFileName().toString())
          .filter(name -> Character.isDigit(name.charAt(0)))
          .map(Long::parseLong)
          .toList();
    }
  }

  private Optional<ProcessStat> stat(long pid) {
    return ProcessStat.read(proc.resolve(Long.toString(pid)));
  }

  /** Returns empty text if the process has ended. */
  private String text(long pid, String file) {
    try {
      return Files.readString(
          proc.resolve(Long.toString(pid)).resolve(file), StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      return "";
    }
  }
}
