package dev.isola.link.local;

import dev.isola.codec.proc.ProcessStat;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * The agent as a process of the host. Pid and start time together identify it, so that a reused pid
 * is never mistaken for it.
 *
 * @param startTime in clock ticks since boot, as in {@code /proc/PID/stat}
 * @param namespaces whether it is PID 1 of a pid namespace, in which case the kernel kills
 *     everything in the namespace when it ends
 */
public record AgentProcess(long pid, long startTime, boolean namespaces) {
  private static final Path PROC = Path.of("/proc");

  public boolean isAlive() {
    return startTimeOf(pid).filter(start -> start == startTime).isPresent();
  }

  /** Kills the agent with SIGKILL. */
  public void kill() {
    Optional<ProcessHandle> handle = ProcessHandle.of(pid);
    // The handle is bound to the process that has the pid now; the check after it confirms that
    // this is the agent.
    if (handle.isPresent() && isAlive()) {
      handle.get().destroyForcibly();
    }
  }

  /**
   * Returns the start time of a live process; empty for none or a zombie. A process whose main
   * thread has ended before the others is alive.
   */
  public static Optional<Long> startTimeOf(long pid) {
    return ProcessStat.read(PROC.resolve(Long.toString(pid)))
        .filter(process -> !process.isZombie() || process.threads() > 1)
        .map(ProcessStat::startTime);
  }

  /**
   * Finds the agent of a sandbox and the supervisors of its commands by their command lines. Used
   * for a sandbox whose record does not name its agent (its creator died between starting it and
   * recording it), and to verify that nothing is left.
   */
  public static List<AgentProcess> findByCommandLine(String instance, String sandbox) {
    List<String> marks = List.of("--instance", instance, "--sandbox", sandbox);
    List<AgentProcess> found = new ArrayList<>();
    try (DirectoryStream<Path> processes = Files.newDirectoryStream(PROC, "[1-9]*")) {
      for (Path process : processes) {
        // Whole words: the id of one sandbox may begin with that of another.
        if (Collections.indexOfSubList(commandLine(process), marks) >= 0) {
          long pid = Long.parseLong(process.getFileName().toString());
          startTimeOf(pid).ifPresent(start -> found.add(new AgentProcess(pid, start, false)));
        }
      }
    } catch (IOException | DirectoryIteratorException e) {
      throw new IllegalStateException("/proc cannot be listed", e);
    }
    return found;
  }

  private static List<String> commandLine(Path process) {
    try {
      String text = Files.readString(process.resolve("cmdline"), StandardCharsets.ISO_8859_1);
      return List.of(text.split("\0"));
    } catch (IOException gone) {
      return List.of();
    }
  }
}
