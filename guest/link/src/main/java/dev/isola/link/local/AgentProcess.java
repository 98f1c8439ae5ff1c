package dev.isola.link.local;

import dev.isola.codec.proc.ProcessStat;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The agent as a process of the host, known by its pid and its start time, so that a pid that was
 * given to somebody else meanwhile is never mistaken for it.
 *
 * @param startTime in clock ticks since boot, as in {@code /proc/PID/stat}
 * @param namespaces whether it is PID 1 of a pid namespace, whose end the kernel makes the end of
 *     everything in it
 */
public record AgentProcess(long pid, long startTime, boolean namespaces) {
  private static final Path PROC = Path.of("/proc");

  public boolean isAlive() {
    return startTimeOf(pid).filter(start -> start == startTime).isPresent();
  }

  /** Kills it without asking. */
  public void kill() {
    Optional<ProcessHandle> handle = ProcessHandle.of(pid);
    // The handle is bound to the process that has the pid now; the check after it says that this is
    // ours.
    if (handle.isPresent() && isAlive()) {
      handle.get().destroyForcibly();
    }
  }

  /**
   * Returns the start time of a living process; empty for none, or one that waits to be reaped. One
   * whose first thread has ended before the others lives.
   */
  public static Optional<Long> startTimeOf(long pid) {
    return ProcessStat.read(PROC.resolve(Long.toString(pid)))
        .filter(process -> !process.isZombie() || process.threads() > 1)
        .map(ProcessStat::startTime);
  }

  /**
   * Finds the agent of a sandbox, and the supervisors of its commands, by the marks on their
   * command lines. For a sandbox whose record does not know its agent (its maker died between
   * starting it and writing it down), and to see that nothing is left.
   */
  public static List<AgentProcess> findByCommandLine(String instance, String sandbox) {
    List<String> marks = List.of("--instance", instance, "--sandbox", sandbox);
    List<AgentProcess> found = new ArrayList<>();
    try (DirectoryStream<Path> processes = Files.newDirectoryStream(PROC, "[1-9]*")) {
      for (Path process : processes) {
        if (String.join("\0", commandLine(process)).contains(String.join("\0", marks))) {
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
