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
 * The control groups of this machine, controller by controller: on a hybrid machine some are of
 * version 1 and some of version 2, so there is no answer for the machine as a whole.
 *
 * <p>What can be done is found out by trying, once; everything else reads no more than a few small
 * files.
 */
public final class ControlGroups {
  private static final Path MOUNTS = Path.of("/proc/self/mountinfo");
  private static final Path MEMBERSHIP = Path.of("/proc/self/cgroup");
  private static final AtomicReference<@Nullable CachedGroups> CACHED = new AtomicReference<>();

  /** Which versions are mounted. */
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

  /** For a machine that was tried already. */
  ControlGroups(List<Hierarchy> hierarchies, List<CgroupLocation> places) {
    this(hierarchies);
    this.locations = List.copyOf(places);
  }

  /** Returns the same as before, with what was found out, unless groups or mounts have changed. */
  public static ControlGroups ofHost() {
    String mountinfo = KernelFile.read(MOUNTS);
    String membership = KernelFile.read(MEMBERSHIP);
    CachedGroups known = CACHED.get();
    if (known != null && known.mountinfo.equals(mountinfo) && known.membership.equals(membership)) {
      return known.groups;
    }
    ControlGroups groups = parse(mountinfo, membership, KernelFile::read);
    CACHED.set(new CachedGroups(mountinfo, membership, groups));
    return groups;
  }

  /**
   * Reads the kernel's tables.
   *
   * @param mountinfo the text of /proc/self/mountinfo
   * @param membership the text of /proc/self/cgroup
   * @param read returns the text of a file, empty when it cannot be read; asked for the lists of
   *     controllers of the unified hierarchy
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

  /** Leaves out hierarchies of version 1 that only track processes and have a name instead. */
  private static List<String> names(Set<String> controllers) {
    return controllers.stream().filter(name -> !name.startsWith("name=")).toList();
  }

  /**
   * Returns those of memory, processor and threads that can be limited here by this user. The first
   * call tries it with a group of its own, which is gone afterwards.
   */
  public Set<LimitKind> enforceable() {
    Set<LimitKind> limits = EnumSet.noneOf(LimitKind.class);
    locations().forEach(place -> limits.addAll(place.limits()));
    return Set.copyOf(limits);
  }

  /** Tells whether a sandbox can be stopped with its memory; the first call tries. */
  public boolean canFreeze() {
    return locations().stream().anyMatch(CgroupLocation::canFreeze);
  }

  /**
   * Returns what a person does so that everything can be limited and frozen; empty when it can
   * already.
   */
  public String remedy() {
    return canFreeze() && enforceable().equals(CgroupProbe.KINDS)
        ? ""
        : CgroupRemedy.of(this, ServerUser.isRoot());
  }

  /**
   * Returns why a limit of input and output cannot be set here; empty when it can. Tries it with a
   * group of its own, which is gone afterwards.
   */
  public Optional<String> obstacle(IoLimit limit) {
    Optional<CgroupLocation> place = ioLocation();
    if (place.isEmpty()) {
      return Optional.of("the controller io (blkio in version 1) cannot be had here");
    }
    return CgroupProbe.refusal(limit, place.get());
  }

  /** Tells whether a limit of input and output holds for what is written from the cache, too. */
  public boolean limitsCachedWrites() {
    return ioLocation().map(place -> place.hierarchy().unified()).orElse(false);
  }

  /** Returns where groups are made that limit input and output. */
  Optional<CgroupLocation> ioLocation() {
    for (CgroupLocation place : locations()) {
      if (place.hierarchy().unified()
          && place.hierarchy().has("io")
          && new Delegation(place.hierarchy(), place.parent()).grant("io")) {
        return Optional.of(place);
      }
    }
    return hierarchies.stream()
        .filter(hierarchy -> !hierarchy.unified() && hierarchy.has("blkio"))
        .flatMap(
            hierarchy ->
                hierarchy.candidateParents().stream()
                    .filter(spot -> Files.isWritable(spot.resolve("cgroup.procs")))
                    .limit(1)
                    .map(spot -> new CgroupLocation(hierarchy, spot, Set.of(), false)))
        .findFirst();
  }

  /** Returns the groups of a sandbox. Only a handle: nothing is made and nothing is looked at. */
  public ControlGroup group(InstanceId instance, SandboxId id) {
    return new ControlGroup(this, "isola-" + instance + "-" + id);
  }

  /**
   * Removes groups of {@code instance} that are older than {@code age} and in which nobody is:
   * whoever made them was killed. Only for who knows that no sandbox of it is that old: one that is
   * stopped has empty groups, and needs them.
   */
  public void removeEmpty(InstanceId instance, Duration age) {
    removeEmpty(instance, age, id -> true);
  }

  /**
   * Removes groups of {@code instance} that are older than {@code age}, in which no process is, and
   * whose sandbox has ended.
   *
   * @param ended tells whether a sandbox has ended for good; one that is stopped needs its groups
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

  /** Two threads that come at once both try; they find the same. */
  List<CgroupLocation> locations() {
    List<CgroupLocation> known = locations;
    if (known == null) {
      known = CgroupProbe.locations(hierarchies);
      locations = known;
    }
    return known;
  }
}
