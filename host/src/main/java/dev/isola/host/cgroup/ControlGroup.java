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

  private static final String VIEW = "/sys/fs/cgroup";
  private static final Duration KILLING = Duration.ofSeconds(10);
  private static final Duration FREEZING = Duration.ofMillis(200);

  private final ControlGroups machine;
  private final String name;

  ControlGroup(ControlGroups machine, String name) {
    this.machine = machine;
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
  public void make(ResourceLimits limits) throws IOException {
    List<Path> made = new ArrayList<>();
    try {
      for (Place place : machine.places()) {
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
   * Limits what is read and written of a disk, in groups that {@link #make} made.
   *
   * @throws IOException where that cannot be limited
   */
  public void limitIo(IoLimit limit) throws IOException {
    Place place =
        machine
            .ioPlace()
            .orElseThrow(() -> new IOException("no control group can limit input and output"));
    Path group = place.parent().resolve(name);
    if (!Files.isDirectory(group)) {
      Files.createDirectory(group);
    }
    write(limit.settings(place.hierarchy().unified()), group);
  }

  private static void limit(Place place, Path group, LimitKind kind, ResourceLimits limits)
      throws IOException {
    List<Setting> settings = Setting.of(kind, limits, place.hierarchy(), place.parent());
    try {
      write(settings, group);
    } catch (NoSuchFileException e) {
      // Whoever else looks after the parent may have taken the controller away since we tried.
      if (!place.hierarchy().unified()
          || !new Delegation(place.hierarchy(), place.parent()).grant(Setting.controller(kind))) {
        throw e;
      }
      write(settings, group);
    }
  }

  private static void write(List<Setting> settings, Path group) throws IOException {
    for (Setting setting : settings) {
      setting.write(group);
    }
  }

  /**
   * Returns the files through which a process joins: one that writes {@code 0} to each is in, with
   * whatever it starts from then on. Empty before {@link #make}.
   */
  public List<Path> joinFiles() {
    return folders().paths().stream().map(path -> path.resolve("cgroup.procs")).toList();
  }

  /**
   * Returns where the sandbox is to see its groups, as runtimes look for them to size themselves:
   * the path inside, and the folder on this machine. Empty before {@link #make}.
   */
  public Map<String, Path> views() {
    Map<String, Path> views = new LinkedHashMap<>();
    boolean mixed = machine.places().stream().anyMatch(place -> !place.hierarchy().unified());
    for (Place place : machine.places()) {
      Path group = place.parent().resolve(name);
      String mount = place.hierarchy().mount().getFileName().toString();
      if (Files.isDirectory(group)) {
        views.put(mixed ? VIEW + "/" + mount : VIEW, group);
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
    for (Place place : machine.places()) {
      Hierarchy hierarchy = place.hierarchy();
      String mount = hierarchy.mount().getFileName().toString();
      for (String controller : hierarchy.controllers()) {
        if (!hierarchy.unified() && !controller.equals(mount) && !controller.contains("=")) {
          links.put(VIEW + "/" + controller, mount);
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
    Deadline deadline = new Deadline(patience);
    try {
      freezer.freeze();
      while (!freezer.frozen()) {
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
    return freezer(folders()).map(Freezer::frozen).orElse(false);
  }

  private static Optional<Freezer> freezer(GroupFolders folders) {
    return folders.paths().stream().flatMap(path -> Freezer.of(path).stream()).findFirst();
  }

  /**
   * Kills everybody, frozen or not, and returns when nobody is left. Where the kernel cannot kill a
   * group at once no process can be started in it afterwards, until {@link #make} sets the limits
   * again.
   */
  public void kill() throws IOException {
    kill(folders(), new Deadline(KILLING));
  }

  private void kill(GroupFolders folders, Deadline deadline) throws IOException {
    Optional<Path> file = folders.file("cgroup.kill");
    while (true) {
      if (file.isPresent()) {
        KernelFile.tryWrite(file.get(), "1");
      }
      Set<Long> members = folders.members();
      if (!members.isEmpty()) {
        if (file.isEmpty()) {
          holdStill(folders);
          members = folders.members();
        }
        // Also for those who have joined only some of the groups yet.
        members.forEach(pid -> kill(folders, pid));
      }
      letGo(folders);
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
  private static void holdStill(GroupFolders folders) throws IOException {
    folders.file("pids.max").ifPresent(file -> KernelFile.tryWrite(file, "0"));
    Optional<Freezer> freezer = freezer(folders);
    if (freezer.isPresent()) {
      Deadline deadline = new Deadline(FREEZING);
      try {
        do {
          freezer.get().freeze();
        } while (!freezer.get().frozen() && deadline.pause());
      } catch (NoSuchFileException gone) {
        // Removed meanwhile, so there is nobody left.
      }
    }
  }

  private static void letGo(GroupFolders folders) {
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

  private static void kill(GroupFolders folders, long pid) {
    // The handle is bound to the process that has the pid now; the look after it says that this is
    // one of ours.
    ProcessHandle.of(pid)
        .filter(process -> pid != ProcessHandle.current().pid() && folders.holds(pid))
        .ifPresent(ProcessHandle::destroyForcibly);
  }

  /**
   * Kills everybody and removes the groups, whoever made them and however many of them there are.
   * Returns when nothing is left.
   */
  public void remove(Duration patience) throws IOException {
    Deadline deadline = new Deadline(patience);
    while (true) {
      GroupFolders folders = folders();
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
    Deadline deadline = new Deadline(patience);
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

  public Reading read() {
    GroupFolders folders = folders();
    return new Reading(
        cpuTime(folders),
        memory(folders),
        number(folders, "memory.peak", "memory.max_usage_in_bytes"),
        folders.members().size());
  }

  private static Duration cpuTime(GroupFolders folders) {
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

  private static long memory(GroupFolders folders) {
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

  private static long number(GroupFolders folders, String... files) {
    return folders.file(files).map(file -> KernelFile.number(file).orElse(0)).orElse(0L);
  }

  private GroupFolders folders() {
    return GroupFolders.find(name, machine.hierarchies());
  }

  @Override
  public String toString() {
    return name;
  }
}
