package dev.isola.host.cgroup;

import dev.isola.spi.LimitKind;
import dev.isola.spi.spec.ResourceLimits;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * The control groups of one sandbox: one folder of the same name in each hierarchy that is needed.
 *
 * <p>A stateless handle. Any process of the installation can use one, including processes that did
 * not create the groups. All methods are idempotent and safe for concurrent use.
 */
public final class ControlGroup {
  /**
   * Threads that a group allows in addition to the limit of the spec, for the agent and its
   * supervisors. Commands can use them up, in which case the agent ends the execution with the most
   * threads.
   */
  public static final int AGENT_THREADS = 64;

  private static final String MOUNT = "/sys/fs/cgroup";
  private static final Duration KILL_TIMEOUT = Duration.ofSeconds(10);
  private static final Duration FREEZE_TIMEOUT = Duration.ofMillis(200);

  private final ControlGroups groups;
  private final String name;

  ControlGroup(ControlGroups groups, String name) {
    this.groups = groups;
    this.name = name;
  }

  /** Returns the name of the folders, which contains the ids of the instance and the sandbox. */
  public String name() {
    return name;
  }

  /**
   * Creates the groups and sets the limits. Limits that cannot be enforced on this host are
   * skipped. Removes what it created if it throws.
   */
  public void create(ResourceLimits limits) throws IOException {
    List<Path> made = new ArrayList<>();
    try {
      for (CgroupLocation location : groups.locations()) {
        Path group = location.parent().resolve(name);
        try {
          Files.createDirectory(group);
          made.add(group);
        } catch (FileAlreadyExistsException e) {
          // Created earlier, possibly by another process.
        }
        if (!Cpuset.inherit(location.hierarchy(), location.parent(), group)) {
          throw new IOException(group + " cannot inherit the CPUs of " + location.parent());
        }
        for (LimitKind kind : location.limits()) {
          limit(location, group, kind, limits);
        }
      }
    } catch (IOException e) {
      for (Path group : made) {
        try {
          Files.deleteIfExists(group);
        } catch (IOException failure) {
          e.addSuppressed(failure);
        }
      }
      throw e;
    }
  }

  /**
   * Limits the disk throughput of groups created by {@link #create}.
   *
   * @throws IOException if throughput cannot be limited on this host
   */
  public void limitIo(IoLimit limit) throws IOException {
    CgroupLocation location =
        groups.ioLocation().orElseThrow(() -> new IOException("no control group can limit I/O"));
    Path group = location.parent().resolve(name);
    if (!Files.isDirectory(group)) {
      Files.createDirectory(group);
    }
    write(limit.settings(location.hierarchy().unified()), group);
  }

  private static void limit(
      CgroupLocation location, Path group, LimitKind kind, ResourceLimits limits)
      throws IOException {
    List<CgroupSetting> settings =
        CgroupSetting.of(kind, limits, location.hierarchy(), location.parent());
    try {
      write(settings, group);
    } catch (NoSuchFileException e) {
      // Another manager of the parent group may have withdrawn the controller after the probe.
      if (!location.hierarchy().unified()
          || !new Delegation(location.hierarchy(), location.parent())
              .grant(CgroupSetting.controller(kind))) {
        throw e;
      }
      write(settings, group);
    }
  }

  private static void write(List<CgroupSetting> settings, Path group) throws IOException {
    for (CgroupSetting setting : settings) {
      setting.write(group);
    }
  }

  /**
   * Returns the files through which a process joins: it writes {@code 0} to each of them. Its later
   * children are members too. Empty before {@link #create}.
   */
  public List<Path> joinFiles() {
    return folders().paths().stream().map(path -> path.resolve("cgroup.procs")).toList();
  }

  /**
   * Returns where the groups appear in the sandbox, where language runtimes look them up to size
   * themselves: the path inside, mapped to the folder on the host. Empty before {@link #create}.
   */
  public Map<String, Path> views() {
    Map<String, Path> views = new LinkedHashMap<>();
    boolean mixed =
        groups.locations().stream().anyMatch(location -> !location.hierarchy().unified());
    for (CgroupLocation location : groups.locations()) {
      Path group = location.parent().resolve(name);
      String mount = location.hierarchy().mount().getFileName().toString();
      if (Files.isDirectory(group)) {
        views.put(mixed ? MOUNT + "/" + mount : MOUNT, group);
      }
    }
    return views;
  }

  /**
   * Returns the symbolic links that belong to {@link #views()}: controllers that are mounted
   * together are looked up under each of their names.
   */
  public Map<String, String> viewLinks() {
    Map<String, String> links = new LinkedHashMap<>();
    for (CgroupLocation location : groups.locations()) {
      Hierarchy hierarchy = location.hierarchy();
      String mount = hierarchy.mount().getFileName().toString();
      for (String controller : hierarchy.controllers()) {
        if (!hierarchy.unified() && !controller.equals(mount) && !controller.contains("=")) {
          links.put(MOUNT + "/" + controller, mount);
        }
      }
    }
    return links;
  }

  /**
   * Returns the file whose line {@code oom_kill N} counts the processes killed for lack of memory.
   */
  public Optional<Path> memoryEvents() {
    return folders().file("memory.events", "memory.oom_control");
  }

  /** Returns the file whose line {@code max N} counts the forks that failed at the limit. */
  public Optional<Path> processEvents() {
    return folders().file("pids.events");
  }

  /**
   * Freezes all processes and returns when they are frozen. On timeout it thaws them and throws.
   */
  public void freeze(Duration timeout) throws IOException {
    Freezer freezer =
        freezer(folders())
            .orElseThrow(() -> new IOException("no control group of " + name + " can freeze"));
    PollDeadline deadline = new PollDeadline(timeout);
    try {
      freezer.freeze();
      while (!freezer.isFrozen()) {
        if (!deadline.pause()) {
          throw new IOException(
              name
                  + " has a process that could not be frozen within "
                  + timeout.toMillis()
                  + " ms");
        }
        freezer.freeze();
      }
    } catch (IOException e) {
      try {
        freezer.thaw();
      } catch (IOException removed) {
        e.addSuppressed(removed);
      }
      throw e;
    }
  }

  /** Thaws all processes. */
  public void thaw() throws IOException {
    Optional<Freezer> freezer = freezer(folders());
    if (freezer.isPresent()) {
      freezer.get().thaw();
    }
  }

  public boolean frozen() {
    return freezer(folders()).map(Freezer::isFrozen).orElse(false);
  }

  private static Optional<Freezer> freezer(CgroupFolders folders) {
    return folders.paths().stream().flatMap(path -> Freezer.of(path).stream()).findFirst();
  }

  /**
   * Kills all processes, frozen or not, and returns when none is left. On kernels without {@code
   * cgroup.kill} no process can be started in the group afterwards until {@link #create} sets the
   * limits again.
   */
  public void kill() throws IOException {
    kill(folders(), new PollDeadline(KILL_TIMEOUT));
  }

  private void kill(CgroupFolders folders, PollDeadline deadline) throws IOException {
    Optional<Path> file = folders.file("cgroup.kill");
    while (true) {
      if (file.isPresent()) {
        KernelFile.tryWrite(file.get(), "1");
      }
      Set<Long> members = folders.members();
      if (!members.isEmpty()) {
        if (file.isEmpty()) {
          preventForks(folders);
          members = folders.members();
        }
        // Covers processes that have joined only some of the groups.
        members.forEach(pid -> kill(folders, pid));
      }
      thawAll(folders);
      if (members.isEmpty()) {
        return;
      }
      if (!deadline.pause()) {
        throw new IOException(
            "processes of "
                + name
                + " do not exit: "
                + folders.members().stream().limit(10).toList());
      }
    }
  }

  /**
   * Stops processes that fork faster than they can be killed: sets the process limit to zero and
   * freezes the group.
   */
  private static void preventForks(CgroupFolders folders) throws IOException {
    folders.file("pids.max").ifPresent(file -> KernelFile.tryWrite(file, "0"));
    Optional<Freezer> freezer = freezer(folders);
    if (freezer.isPresent()) {
      PollDeadline deadline = new PollDeadline(FREEZE_TIMEOUT);
      try {
        do {
          freezer.get().freeze();
        } while (!freezer.get().isFrozen() && deadline.pause());
      } catch (NoSuchFileException removed) {
        // The group was removed concurrently, so no process is left.
      }
    }
  }

  private static void thawAll(CgroupFolders folders) {
    for (Path path : folders.paths()) {
      try {
        Optional<Freezer> freezer = Freezer.of(path);
        if (freezer.isPresent()) {
          freezer.get().thaw();
        }
      } catch (IOException removed) {
        // The group was removed concurrently.
      }
    }
  }

  private static void kill(CgroupFolders folders, long pid) {
    // The handle refers to the current owner of the pid; the check afterwards ensures that this
    // process is a member.
    ProcessHandle.of(pid)
        .filter(process -> pid != ProcessHandle.current().pid() && folders.contains(pid))
        .ifPresent(ProcessHandle::destroyForcibly);
  }

  /**
   * Kills all processes and removes the groups, regardless of which process created them. Returns
   * when nothing is left.
   */
  public void remove(Duration timeout) throws IOException {
    PollDeadline deadline = new PollDeadline(timeout);
    while (true) {
      CgroupFolders folders = folders();
      if (folders.isEmpty()) {
        return;
      }
      kill(folders, deadline);
      try {
        folders.delete();
        return;
      } catch (IOException busy) {
        // The kernel may still hold a group whose last process has just ended.
        if (!deadline.pause()) {
          throw new IOException(
              "the control group " + name + " cannot be removed: " + busy.getMessage(), busy);
        }
      }
    }
  }

  /** Returns the pids of the processes in the groups. */
  public Set<Long> members() {
    return folders().members();
  }

  /** Waits until the group has no processes. */
  public void awaitEmpty(Duration timeout) throws IOException {
    PollDeadline deadline = new PollDeadline(timeout);
    while (!folders().members().isEmpty()) {
      if (!deadline.pause()) {
        throw new IOException("processes remain in the control group " + name);
      }
    }
  }

  /** Returns the number of processes killed for lack of memory since the group was created. */
  public long outOfMemoryKills() {
    return memoryEvents().map(file -> KernelFile.number(file, "oom_kill").orElse(0)).orElse(0L);
  }

  /** Returns the usage. Version 1 counts the buffers of TCP connections separately. */
  public CgroupUsage usage() {
    CgroupFolders folders = folders();
    return new CgroupUsage(
        cpuTime(folders),
        memory(folders) + number(folders, "memory.kmem.tcp.usage_in_bytes"),
        number(folders, "memory.peak", "memory.max_usage_in_bytes")
            + number(folders, "memory.kmem.tcp.max_usage_in_bytes"),
        folders.members().size());
  }

  private static Duration cpuTime(CgroupFolders folders) {
    Optional<Path> old = folders.file("cpuacct.usage");
    if (old.isPresent()) {
      return Duration.ofNanos(KernelFile.number(old.get()).orElse(0));
    }
    // In version 1 the cpu controller has a file of this name without that line.
    for (Path path : folders.paths()) {
      OptionalLong micros = KernelFile.number(path.resolve("cpu.stat"), "usage_usec");
      if (micros.isPresent()) {
        return Duration.ofNanos(Math.multiplyExact(micros.getAsLong(), 1000L));
      }
    }
    return Duration.ZERO;
  }

  private static long memory(CgroupFolders folders) {
    long all = number(folders, "memory.current", "memory.usage_in_bytes");
    long reclaimable =
        folders
            .file("memory.stat")
            .map(
                stat -> {
                  OptionalLong old = KernelFile.number(stat, "total_inactive_file");
                  return old.isPresent() ? old : KernelFile.number(stat, "inactive_file");
                })
            .orElse(OptionalLong.empty())
            .orElse(0);
    return Math.max(0, all - reclaimable);
  }

  private static long number(CgroupFolders folders, String... files) {
    return folders.file(files).map(file -> KernelFile.number(file).orElse(0)).orElse(0L);
  }

  private CgroupFolders folders() {
    return CgroupFolders.find(name, groups.hierarchies());
  }

  @Override
  public String toString() {
    return name;
  }
}
