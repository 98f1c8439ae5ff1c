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
 * The groups of one sandbox: one folder in each hierarchy that is needed, all of one name.
 *
 * <p>A handle without state. Any process of the installation may use one, also one that did not
 * make the groups; all calls may be repeated, and run beside each other.
 */
public final class ControlGroup {
  /**
   * How many threads a group allows beyond what the spec does, for the agent and its supervisors.
   * Commands may take them too, and then the agent ends the execution that has most.
   */
  public static final int AGENT_THREADS = 64;

  private static final String MOUNT = "/sys/fs/cgroup";
  private static final Duration KILL_TIMEOUT = Duration.ofSeconds(10);
  private static final Duration FREEZE_TIMEOUT = Duration.ofMillis(200);

  private final ControlGroups groups;
  private final String name;

  ControlGroup(ControlGroups machine, String name) {
    this.groups = machine;
    this.name = name;
  }

  /** Returns the name of its folders, which bears the instance's id and the sandbox's. */
  public String name() {
    return name;
  }

  /**
   * Makes the groups and sets the limits. Limits that cannot be enforced here are left out. When it
   * throws, what it made is gone again.
   */
  public void create(ResourceLimits limits) throws IOException {
    List<Path> made = new ArrayList<>();
    try {
      for (CgroupLocation place : groups.locations()) {
        Path group = place.parent().resolve(name);
        try {
          Files.createDirectory(group);
          made.add(group);
        } catch (FileAlreadyExistsException e) {
          // Made before, by us or another.
        }
        if (!Cpuset.inherit(place.hierarchy(), place.parent(), group)) {
          throw new IOException(group + " cannot be given the processors of " + place.parent());
        }
        for (LimitKind kind : place.limits()) {
          limit(place, group, kind, limits);
        }
      }
    } catch (IOException e) {
      for (Path group : made) {
        try {
          Files.deleteIfExists(group);
        } catch (IOException left) {
          e.addSuppressed(left);
        }
      }
      throw e;
    }
  }

  /**
   * Limits what is read and written of a disk, in groups that {@link #create} made.
   *
   * @throws IOException where that cannot be limited
   */
  public void limitIo(IoLimit limit) throws IOException {
    CgroupLocation place =
        groups
            .ioLocation()
            .orElseThrow(() -> new IOException("no control group can limit input and output"));
    Path group = place.parent().resolve(name);
    if (!Files.isDirectory(group)) {
      Files.createDirectory(group);
    }
    write(limit.settings(place.hierarchy().unified()), group);
  }

  private static void limit(CgroupLocation place, Path group, LimitKind kind, ResourceLimits limits)
      throws IOException {
    List<CgroupSetting> settings =
        CgroupSetting.of(kind, limits, place.hierarchy(), place.parent());
    try {
      write(settings, group);
    } catch (NoSuchFileException e) {
      // Whoever else looks after the parent may have taken the controller away since we tried.
      if (!place.hierarchy().unified()
          || !new Delegation(place.hierarchy(), place.parent())
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
   * Returns the files through which a process joins: one that writes {@code 0} to each is in, with
   * whatever it starts from then on. Empty before {@link #create}.
   */
  public List<Path> joinFiles() {
    return folders().paths().stream().map(path -> path.resolve("cgroup.procs")).toList();
  }

  /**
   * Returns where the sandbox is to see its groups, as runtimes look for them to size themselves:
   * the path inside, and the folder on this machine. Empty before {@link #create}.
   */
  public Map<String, Path> views() {
    Map<String, Path> views = new LinkedHashMap<>();
    boolean mixed = groups.locations().stream().anyMatch(place -> !place.hierarchy().unified());
    for (CgroupLocation place : groups.locations()) {
      Path group = place.parent().resolve(name);
      String mount = place.hierarchy().mount().getFileName().toString();
      if (Files.isDirectory(group)) {
        views.put(mixed ? MOUNT + "/" + mount : MOUNT, group);
      }
    }
    return views;
  }

  /**
   * Returns the links beside {@link #views()}: controllers that are mounted together are looked for
   * by the name of each.
   */
  public Map<String, String> viewLinks() {
    Map<String, String> links = new LinkedHashMap<>();
    for (CgroupLocation place : groups.locations()) {
      Hierarchy hierarchy = place.hierarchy();
      String mount = hierarchy.mount().getFileName().toString();
      for (String controller : hierarchy.controllers()) {
        if (!hierarchy.unified() && !controller.equals(mount) && !controller.contains("=")) {
          links.put(MOUNT + "/" + controller, mount);
        }
      }
    }
    return links;
  }

  /** Returns the file whose line {@code oom_kill N} counts those killed for lack of memory. */
  public Optional<Path> memoryEvents() {
    return folders().file("memory.events", "memory.oom_control");
  }

  /** Returns the file whose line {@code max N} counts refused forks. */
  public Optional<Path> processEvents() {
    return folders().file("pids.events");
  }

  /**
   * Stops everybody, and returns when all stand still. When they do not in time, they go on and it
   * throws.
   */
  public void freeze(Duration patience) throws IOException {
    Freezer freezer =
        freezer(folders())
            .orElseThrow(() -> new IOException("no control group of " + name + " can freeze"));
    PollDeadline deadline = new PollDeadline(patience);
    try {
      freezer.freeze();
      while (!freezer.isFrozen()) {
        if (!deadline.pause()) {
          throw new IOException(
              name
                  + " has a process that could not be frozen within "
                  + patience.toMillis()
                  + " ms");
        }
        freezer.freeze();
      }
    } catch (IOException e) {
      try {
        freezer.thaw();
      } catch (IOException gone) {
        e.addSuppressed(gone);
      }
      throw e;
    }
  }

  /** Lets everybody go on. */
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
   * Kills everybody, frozen or not, and returns when nobody is left. Where the kernel cannot kill a
   * group at once no process can be started in it afterwards, until {@link #create} sets the limits
   * again.
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
        // Also for those who have joined only some of the groups yet.
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
                + " do not end: "
                + folders.members().stream().limit(10).toList());
      }
    }
  }

  /** Those who fork faster than they are killed must not: no new processes, and nobody moves. */
  private static void preventForks(CgroupFolders folders) throws IOException {
    folders.file("pids.max").ifPresent(file -> KernelFile.tryWrite(file, "0"));
    Optional<Freezer> freezer = freezer(folders);
    if (freezer.isPresent()) {
      PollDeadline deadline = new PollDeadline(FREEZE_TIMEOUT);
      try {
        do {
          freezer.get().freeze();
        } while (!freezer.get().isFrozen() && deadline.pause());
      } catch (NoSuchFileException gone) {
        // Removed meanwhile, so there is nobody left.
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
      } catch (IOException gone) {
        // Removed meanwhile.
      }
    }
  }

  private static void kill(CgroupFolders folders, long pid) {
    // The handle is bound to the process that has the pid now; the look after it says that this is
    // one of ours.
    ProcessHandle.of(pid)
        .filter(process -> pid != ProcessHandle.current().pid() && folders.contains(pid))
        .ifPresent(ProcessHandle::destroyForcibly);
  }

  /**
   * Kills everybody and removes the groups, whoever made them and however many of them there are.
   * Returns when nothing is left.
   */
  public void remove(Duration patience) throws IOException {
    PollDeadline deadline = new PollDeadline(patience);
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
        // The last one may have been seen to end before the kernel let go of it.
        if (!deadline.pause()) {
          throw new IOException(
              "the control group " + name + " cannot be removed: " + busy.getMessage(), busy);
        }
      }
    }
  }

  /** Waits until nobody is in the group any more. */
  public void awaitEmpty(Duration patience) throws IOException {
    PollDeadline deadline = new PollDeadline(patience);
    while (!folders().members().isEmpty()) {
      if (!deadline.pause()) {
        throw new IOException("processes are left in the control group " + name);
      }
    }
  }

  /** Returns how many processes were killed for lack of memory since the group was made. */
  public long outOfMemoryKills() {
    return memoryEvents().map(file -> KernelFile.number(file, "oom_kill").orElse(0)).orElse(0L);
  }

  public CgroupUsage usage() {
    CgroupFolders folders = folders();
    return new CgroupUsage(
        cpuTime(folders),
        memory(folders),
        number(folders, "memory.peak", "memory.max_usage_in_bytes"),
        folders.members().size());
  }

  private static Duration cpuTime(CgroupFolders folders) {
    Optional<Path> old = folders.file("cpuacct.usage");
    if (old.isPresent()) {
      return Duration.ofNanos(KernelFile.number(old.get()).orElse(0));
    }
    // The cpu controller of version 1 has a file of this name without such a line.
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
