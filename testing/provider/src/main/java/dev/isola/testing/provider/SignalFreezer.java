package dev.isola.testing.provider;

import dev.isola.codec.time.Deadline;
import dev.isola.link.local.AgentProcess;
import dev.isola.link.local.SandboxFolder;
import dev.isola.link.local.SandboxFreezer;
import dev.isola.link.local.SandboxRecord;
import dev.isola.spi.SandboxId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Freezes agents and their commands with {@code SIGSTOP}, which a guest process can undo, so it is
 * suitable for tests only. The agent is stopped first, so that it does not notice.
 *
 * @param sandboxes the folder with the folders of the sandboxes
 */
record SignalFreezer(Path sandboxes) implements SandboxFreezer {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final Duration INTERVAL = Duration.ofMillis(1);

  /** Returns the agent of a sandbox, according to its record. */
  private AgentProcess agent(SandboxId id) throws IOException {
    return SandboxRecord.read(new SandboxFolder(sandboxes.resolve(id.value())).record())
        .flatMap(SandboxRecord::agent)
        .orElseThrow(() -> new IOException(id + " has no agent"));
  }

  @Override
  public void freeze(SandboxId id) throws IOException {
    AgentProcess agent = agent(id);
    if (agent.isAlive()) {
      // Its child goes on: an agent that waits for it after vfork would not stop.
      signal("STOP", List.of(agent.pid()));
      if (!Deadline.in(TIMEOUT).await(INTERVAL, () -> "TtZX".indexOf(state(agent.pid())) >= 0)) {
        throw new IOException("agent " + agent.pid() + " does not stop");
      }
    }
    Set<Long> signalled = new HashSet<>();
    List<Long> running = running(agent, signalled);
    while (!running.isEmpty()) { // a process may have forked meanwhile
      signal("STOP", running);
      signalled.addAll(running);
      running = running(agent, signalled);
    }
  }

  @Override
  public void thaw(SandboxId id) throws IOException {
    signal("CONT", tree(agent(id)));
  }

  @Override
  public boolean isFrozen(SandboxId id) {
    try {
      AgentProcess agent = agent(id);
      return agent.isAlive() && "Tt".indexOf(state(agent.pid())) >= 0;
    } catch (IOException noAgent) {
      return false;
    }
  }

  /**
   * Returns the processes that are not stopped. One that has received the signal and waits in the
   * kernel counts as stopped: after vfork a shell waits for a child that was stopped before it.
   */
  private static List<Long> running(AgentProcess agent, Set<Long> signalled) {
    return tree(agent).stream()
        .filter(pid -> (signalled.contains(pid) ? "TtZXD" : "TtZX").indexOf(state(pid)) < 0)
        .toList();
  }

  private static List<Long> tree(AgentProcess agent) {
    List<Long> pids = new ArrayList<>();
    if (agent.isAlive()) {
      pids.add(agent.pid());
      ProcessHandle.of(agent.pid()).stream()
          .flatMap(ProcessHandle::descendants)
          .forEach(process -> pids.add(process.pid()));
    }
    return pids;
  }

  /** Returns the state letter of {@code /proc/PID/stat}, or {@code X} if the process is gone. */
  private static char state(long pid) {
    try {
      String text =
          Files.readString(Path.of("/proc/" + pid + "/stat"), StandardCharsets.ISO_8859_1);
      return text.charAt(text.lastIndexOf(')') + 2);
    } catch (IOException gone) {
      return 'X';
    }
  }

  /** Ignores processes that ended meanwhile. */
  private static void signal(String name, List<Long> pids) throws IOException {
    if (pids.isEmpty()) {
      return;
    }
    List<String> words = new ArrayList<>();
    words.addAll(List.of("/bin/sh", "-c", "kill -" + name + " \"$@\" 2> /dev/null; true", "sh"));
    pids.forEach(pid -> words.add(Long.toString(pid)));
    HostCommand.run(words);
  }
}
