package dev.isola.host.cgroup;

import dev.isola.spi.LimitKind;
import dev.isola.spi.spec.ResourceLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Finds out where groups can be created and what can be limited there by creating and removing a
 * temporary one. Permissions, delegation, namespaces and read-only mounts all matter, so reading
 * attributes is not enough.
 */
final class CgroupProbe {
  static final Set<LimitKind> KINDS = Set.of(LimitKind.MEMORY, LimitKind.CPU, LimitKind.THREADS);
  private static final ResourceLimits LIMITS =
      ResourceLimits.DEFAULT.withCpu(0.01).withMemoryMb(16).withThreads(16);

  private static final String PREFIX = "isola-trial-";

  /** A probe takes milliseconds, so groups of this age were left behind by a crash. */
  private static final Duration STALE_AGE = Duration.ofMinutes(10);

  private final String name =
      PREFIX + ProcessHandle.current().pid() + "-" + Long.toHexString(System.nanoTime());

  private CgroupProbe() {}

  /** Returns the locations that are needed: each limit once, and one that can freeze. */
  static List<CgroupLocation> locations(List<Hierarchy> hierarchies) {
    StaleCgroups.remove(hierarchies, name -> name.startsWith(PREFIX), STALE_AGE);
    CgroupProbe probe = new CgroupProbe();
    List<CgroupLocation> locations = new ArrayList<>();
    hierarchies.stream()
        .filter(Hierarchy::unified)
        .forEach(hierarchy -> probe.bestLocation(hierarchy).ifPresent(locations::add));
    // The unified hierarchy freezes, kills and accounts CPU time even if all controllers use
    // version 1.
    boolean freezes = locations.stream().anyMatch(CgroupLocation::canFreeze);
    boolean measures = !locations.isEmpty();
    for (Hierarchy hierarchy : hierarchies) {
      boolean limits = hierarchy.has("memory") || hierarchy.has("cpu") || hierarchy.has("pids");
      if (!hierarchy.unified()
          && (limits
              || hierarchy.isShownInSandbox()
              || (hierarchy.has("freezer") && !freezes)
              || (hierarchy.has("cpuacct") && !measures))) {
        probe.bestLocation(hierarchy).ifPresent(locations::add);
      }
    }
    return List.copyOf(locations);
  }

  /** Returns the first location at which all available limits work, or the one with the most. */
  private Optional<CgroupLocation> bestLocation(Hierarchy hierarchy) {
    Optional<CgroupLocation> best = Optional.empty();
    for (Path parent : hierarchy.candidateParents()) {
      Optional<CgroupLocation> location = probe(hierarchy, parent);
      if (location.isPresent()
          && (best.isEmpty() || best.get().limits().size() < location.get().limits().size())) {
        best = location;
      }
      if (best.isPresent() && best.get().limits().size() == available(hierarchy).size()) {
        break;
      }
    }
    return best;
  }

  private static Set<LimitKind> available(Hierarchy hierarchy) {
    Set<LimitKind> kinds = EnumSet.noneOf(LimitKind.class);
    for (LimitKind kind : KINDS) {
      if (hierarchy.has(CgroupSetting.controller(kind))) {
        kinds.add(kind);
      }
    }
    return kinds;
  }

  private Optional<CgroupLocation> probe(Hierarchy hierarchy, Path parent) {
    // Without write access to this group, its processes cannot be moved to a child either.
    if (!Files.isWritable(parent) || !Files.isWritable(parent.resolve("cgroup.procs"))) {
      return Optional.empty();
    }
    Path group = parent.resolve(name);
    try {
      Files.createDirectory(group);
    } catch (IOException e) {
      return Optional.empty();
    }
    try {
      Set<LimitKind> limits = EnumSet.noneOf(LimitKind.class);
      for (LimitKind kind : available(hierarchy)) {
        if ((!hierarchy.unified()
                || new Delegation(hierarchy, parent).grant(CgroupSetting.controller(kind)))
            && enforces(kind, hierarchy, parent, group)) {
          limits.add(kind);
        }
      }
      if (!Cpuset.inherit(hierarchy, parent, group)) {
        return Optional.empty();
      }
      // No process can join a child of a group that shares controllers with its own processes.
      if (KernelFile.read(group.resolve("cgroup.type")).equals("domain invalid")) {
        return Optional.empty();
      }
      return Optional.of(
          new CgroupLocation(hierarchy, parent, limits, Freezer.of(group).isPresent()));
    } finally {
      delete(group);
    }
  }

  private static boolean enforces(LimitKind kind, Hierarchy hierarchy, Path parent, Path group) {
    try {
      for (CgroupSetting setting : CgroupSetting.of(kind, LIMITS, hierarchy, parent)) {
        setting.write(group);
      }
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** Returns why the kernel rejects a limit; empty if it accepts it. */
  static Optional<String> refusal(IoLimit limit, CgroupLocation location) {
    Path group = location.parent().resolve(new CgroupProbe().name);
    try {
      Files.createDirectory(group);
      for (CgroupSetting setting : limit.settings(location.hierarchy().unified())) {
        setting.write(group);
      }
      return Optional.empty();
    } catch (IOException e) {
      return Optional.of(String.valueOf(e.getMessage()));
    } finally {
      delete(group);
    }
  }

  private static void delete(Path group) {
    try {
      Files.deleteIfExists(group);
    } catch (IOException e) {
      // An empty group can only fail to be removed if it was removed concurrently.
    }
  }
}
