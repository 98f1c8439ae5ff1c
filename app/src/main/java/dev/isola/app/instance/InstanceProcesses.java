package dev.isola.app.instance;

import dev.isola.codec.proc.ProcessStat;
import dev.isola.link.local.AgentProcess;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The processes of all installations on this machine, at one moment. A user who is not root sees
 * only the user's own processes.
 *
 * <p>A process carries the ids of its installation and sandbox on its command line or in its
 * environment. A guest process can write there what it likes. Therefore a process in another pid
 * namespace belongs to the sandbox of its outermost ancestor that carries ids: a guest process
 * cannot have a process outside of its sandbox as a child.
 */
public final class InstanceProcesses {
  private static final Path PROC = Path.of("/proc");

  /** Bounds the ancestors of a process. */
  private static final int MAX_DEPTH = 4096;

  /**
   * An agent, a supervisor, a command or a network process of a sandbox.
   *
   * @param process pid and start time
   */
  public record OfSandbox(AgentProcess process, InstanceId instance, SandboxId sandbox) {}

  /**
   * A launcher, which belongs to no sandbox.
   *
   * @param parent the pid of the process that started it, or of one that adopted it
   */
  public record Launcher(AgentProcess process, InstanceId instance, long parent) {}

  private record Marks(Optional<InstanceId> instance, Optional<SandboxId> sandbox) {
    boolean ofSandbox() {
      return instance.isPresent() && sandbox.isPresent();
    }
  }

  private record Entry(AgentProcess process, long parent, boolean launcher, Marks marks) {}

  private final Map<Long, Entry> entries;
  private final Set<Marks> around = new HashSet<>();
  private final Optional<String> namespace;
  private final long self = ProcessHandle.current().pid();

  private InstanceProcesses(Map<Long, Entry> entries) {
    this.entries = entries;
    this.namespace = pidNamespace(self);
    // Isola may run in a sandbox of another Isola, whose marks all processes here inherit.
    for (Entry one : lineage(self)) {
      around.add(one.marks());
    }
  }

  /** Reads the processes of this machine. */
  public static InstanceProcesses read() {
    Map<Long, Entry> entries = new HashMap<>();
    try (DirectoryStream<Path> processes = Files.newDirectoryStream(PROC, "[1-9]*")) {
      for (Path folder : processes) {
        long pid = Long.parseLong(folder.getFileName().toString());
        ProcessStat.read(folder)
            .filter(stat -> !stat.isZombie() || stat.threads() > 1)
            .ifPresent(stat -> entries.put(pid, entry(folder, pid, stat)));
      }
    } catch (IOException | DirectoryIteratorException e) {
      throw new IllegalStateException("/proc cannot be listed", e);
    }
    return new InstanceProcesses(entries);
  }

  private static Entry entry(Path folder, long pid, ProcessStat stat) {
    List<String> words = words(folder.resolve("cmdline"));
    List<String> variables = words(folder.resolve("environ"));
    Marks options = marks(after(words, "--instance"), after(words, "--sandbox"));
    Marks marks =
        options.ofSandbox()
            ? options
            : marks(variable(variables, "ISOLA_INSTANCE="), variable(variables, "ISOLA_SANDBOX="));
    return new Entry(
        new AgentProcess(pid, stat.startTime(), false),
        stat.parent(),
        words.size() == 3 && words.get(1).equals("serve") && variables.size() == 1,
        marks);
  }

  /** Returns the processes of sandboxes. */
  public List<OfSandbox> ofSandboxes() {
    List<OfSandbox> found = new ArrayList<>();
    for (Entry one : entries.values()) {
      if (one.process().pid() != self && isOfSandbox(one)) {
        Marks marks = trusted(one).orElse(one.marks());
        found.add(
            new OfSandbox(
                one.process(), marks.instance().orElseThrow(), marks.sandbox().orElseThrow()));
      }
    }
    return found;
  }

  /** Returns the launchers, without those of this process. */
  public List<Launcher> launchers() {
    return entries.values().stream()
        .filter(one -> one.launcher() && one.parent() != self && trusted(one).isEmpty())
        .filter(one -> one.marks().instance().isPresent() && one.marks().sandbox().isEmpty())
        .map(one -> new Launcher(one.process(), one.marks().instance().orElseThrow(), one.parent()))
        .toList();
  }

  /**
   * Returns the pids of the processes, other than this one, that use an installation: servers and
   * commands without a server. Guest processes cannot pretend to be one.
   */
  public List<Long> users(InstanceId instance) {
    return entries.values().stream()
        .filter(one -> one.process().pid() != self && trusted(one).isEmpty())
        .map(one -> one.process().pid())
        .filter(pid -> InstanceClaim.of(PROC.resolve(Long.toString(pid))).contains(instance))
        .sorted()
        .toList();
  }

  private boolean isOfSandbox(Entry one) {
    return one.marks().ofSandbox() && !around.contains(one.marks());
  }

  /**
   * Returns the marks of the sandbox that a process is in; empty if it is not in a sandbox with a
   * pid namespace.
   */
  private Optional<Marks> trusted(Entry one) {
    if (namespace.isPresent() && pidNamespace(one.process().pid()).equals(namespace)) {
      return Optional.empty();
    }
    return lineage(one.process().pid()).stream()
        .filter(this::isOfSandbox)
        .reduce((_, outer) -> outer)
        .map(Entry::marks);
  }

  /** Returns a process and its ancestors. */
  private List<Entry> lineage(long pid) {
    List<Entry> line = new ArrayList<>();
    for (Entry one = entries.get(pid);
        one != null && line.size() < MAX_DEPTH;
        one = entries.get(one.parent())) {
      line.add(one);
    }
    return line;
  }

  /** Returns the pid namespace; empty for a process that has ended or belongs to another user. */
  private static Optional<String> pidNamespace(long pid) {
    try {
      return Optional.of(
          Files.readSymbolicLink(PROC.resolve(Long.toString(pid)).resolve("ns/pid")).toString());
    } catch (IOException goneOrNotOurs) {
      return Optional.empty();
    }
  }

  private static Marks marks(String instance, String sandbox) {
    return new Marks(
        Optional.of(instance).filter(SandboxId::isValid).map(InstanceId::new),
        Optional.of(sandbox).filter(SandboxId::isValid).map(SandboxId::new));
  }

  private static String after(List<String> words, String option) {
    int at = words.indexOf(option);
    return at >= 0 && at + 1 < words.size() ? words.get(at + 1) : "";
  }

  private static String variable(List<String> variables, String prefix) {
    return variables.stream()
        .filter(one -> one.startsWith(prefix))
        .findFirst()
        .map(one -> one.substring(prefix.length()))
        .orElse("");
  }

  private static List<String> words(Path file) {
    try {
      return Arrays.asList(
          new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1).split("\0"));
    } catch (IOException goneOrNotOurs) {
      return List.of();
    }
  }
}
