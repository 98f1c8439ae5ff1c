package dev.isola.host.cgroup;

import dev.isola.spi.InstanceId;
import dev.isola.spi.LimitKind;
import dev.isola.spi.SandboxId;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The control groups of the host, per controller: on a hybrid host some controllers use version 1
 * and others version 2, so there is no single version.
 *
 * <p>Probes once what can be limited; all other methods read only a few small files.
 */
public final class ControlGroups {
  private static final Path MOUNTS = Path.of("/proc/self/mountinfo");
  private static final Path MEMBERSHIP = Path.of("/proc/self/cgroup");
  private static final AtomicReference<@Nullable CachedGroups> CACHED = new AtomicReference<>();

  /** The mounted versions. */
  public enum Layout {
    NONE,
    V1,
    V2,
    HYBRID
  }

  /**
   * @param version 1 or 2
   * @param folder the process's own group in that hierarchy
   */
  public record Controller(int version, Path folder) {}

  private record CachedGroups(String mountinfo, String membership, ControlGroups groups) {}

  private final List<Hierarchy> hierarchies;
  private volatile @Nullable List<CgroupLocation> locations;

  private ControlGroups(List<Hierarchy> hierarchies) {
    this.hierarchies = List.copyOf(hierarchies);
  }

  /** Creates an instance with known locations, without probing. */
  ControlGroups(List<Hierarchy> hierarchies, List<CgroupLocation> places) {
    this(hierarchies);
    this.locations = List.copyOf(places);
  }

  /**
   * Returns the control groups of the host. The result, including that of the probe, is cached
   * until the mounts or the membership of this process change.
   */
  public static ControlGroups ofHost() {
    String mountinfo = KernelFile.read(MOUNTS);
    String membership = KernelFile.read(MEMBERSHIP);
    CachedGroups cached = CACHED.get();
    if (cached != null
        && cached.mountinfo.equals(mountinfo)
        && cached.membership.equals(membership)) {
      return cached.groups;
    }
    ControlGroups groups = parse(mountinfo, membership, KernelFile::read);
    CACHED.set(new CachedGroups(mountinfo, membership, groups));
    return groups;
  }

  /**
   * Parses the kernel's tables.
   *
   * @param mountinfo the content of /proc/self/mountinfo
   * @param membership the content of /proc/self/cgroup
   * @param read returns the content of a file, or an empty string if it cannot be read; used for
   *     the controller lists of the unified hierarchy
   */
  public static ControlGroups parse(
      String mountinfo, String membership, Function<Path, String> read) {
    return new ControlGroups(HierarchyParser.hierarchies(mountinfo, membership, read));
  }

  public Layout layout() {
    boolean old =
        hierarchies.stream()
            .anyMatch(
                hierarchy -> !hierarchy.unified() && !names(hierarchy.controllers()).isEmpty());
    boolean unified = hierarchies.stream().anyMatch(Hierarchy::unified);
    if (old) {
      return unified ? Layout.HYBRID : Layout.V1;
    }
    return unified ? Layout.V2 : Layout.NONE;
  }

  /** Returns the controllers by name, such as {@code memory}. */
  public Map<String, Controller> controllers() {
    Map<String, Controller> controllers = new TreeMap<>();
    for (Hierarchy hierarchy : hierarchies) {
      for (String name : names(hierarchy.controllers())) {
        controllers.put(name, new Controller(hierarchy.unified() ? 2 : 1, hierarchy.ownGroup()));
      }
    }
    return Map.copyOf(controllers);
  }

  /**
   * Skips version 1 hierarchies without controllers, which have only a name and track processes.
   */
  private static List<String> names(Set<String> controllers) {
    return controllers.stream().filter(name -> !name.startsWith("name=")).toList();
  }

  /**
   * Returns which of memory, CPU and threads this user can limit. The first call probes with a
   * temporary group.
   */
  public Set<LimitKind> enforceable() {
    Set<LimitKind> limits = EnumSet.noneOf(LimitKind.class);
    locations().forEach(location -> limits.addAll(location.limits()));
    return Set.copyOf(limits);
  }

  /** Reports whether a sandbox can be frozen. The first call probes. */
  public boolean canFreeze() {
    return locations().stream().anyMatch(CgroupLocation::canFreeze);
  }

  /**
   * Returns what the operator can do to enable all limits and freezing; empty if nothing is
   * missing.
   */
  public String remedy() {
    return canFreeze() && enforceable().equals(CgroupProbe.KINDS)
        ? ""
        : CgroupRemedy.of(this, ServerUser.isRoot());
  }

  /**
   * Returns why an I/O limit cannot be set on this host; empty if it can. Probes with a temporary
   * group.
   */
  public Optional<String> obstacle(IoLimit limit) {
    Optional<CgroupLocation> location = ioLocation();
    if (location.isEmpty()) {
      return Optional.of("the controller io (blkio in version 1) is not available");
    }
    return CgroupProbe.refusal(limit, location.get());
  }

  /** Reports whether an I/O limit also applies to writes from the page cache. */
  public boolean limitsCachedWrites() {
    return ioLocation().map(location -> location.hierarchy().unified()).orElse(false);
  }

  /** Returns the location of groups that limit I/O. */
  Optional<CgroupLocation> ioLocation() {
    for (CgroupLocation location : locations()) {
      if (location.hierarchy().unified()
          && location.hierarchy().has("io")
          && new Delegation(location.hierarchy(), location.parent()).grant("io")) {
        return Optional.of(location);
      }
    }
    return hierarchies.stream()
        .filter(hierarchy -> !hierarchy.unified() && hierarchy.has("blkio"))
        .flatMap(
            hierarchy ->
                hierarchy.candidateParents().stream()
                    .filter(parent -> Files.isWritable(parent.resolve("cgroup.procs")))
                    .limit(1)
                    .map(parent -> new CgroupLocation(hierarchy, parent, Set.of(), false)))
        .findFirst();
  }

  /** Returns the handle of a sandbox's groups without accessing them. */
  public ControlGroup group(InstanceId instance, SandboxId id) {
    return new ControlGroup(this, "isola-" + instance + "-" + id);
  }

  /** Returns the sandboxes of all installations that have a group, by installation. */
  public Map<InstanceId, Set<SandboxId>> sandboxes() {
    return CgroupNames.sandboxes(hierarchies);
  }

  /**
   * Removes empty groups of {@code instance} that are older than {@code age} and whose creator was
   * killed. The caller must know that no sandbox of the instance is that old: a stopped sandbox has
   * empty groups and needs them.
   */
  public void removeEmpty(InstanceId instance, Duration age) {
    removeEmpty(instance, age, id -> true);
  }

  /**
   * Removes groups of {@code instance} that are older than {@code age}, have no processes, and
   * belong to a sandbox that has ended.
   *
   * @param ended reports whether a sandbox has ended for good; a stopped one needs its groups
   */
  public void removeEmpty(InstanceId instance, Duration age, Predicate<SandboxId> ended) {
    String prefix = "isola-" + instance + "-";
    StaleCgroups.remove(
        hierarchies,
        name ->
            name.startsWith(prefix)
                && SandboxId.isValid(name.substring(prefix.length()))
                && ended.test(new SandboxId(name.substring(prefix.length()))),
        age);
  }

  List<Hierarchy> hierarchies() {
    return hierarchies;
  }

  /** Concurrent first calls may probe twice, with the same result. */
  List<CgroupLocation> locations() {
    List<CgroupLocation> cached = locations;
    if (cached == null) {
      cached = CgroupProbe.locations(hierarchies);
      locations = cached;
    }
    return cached;
  }
}
