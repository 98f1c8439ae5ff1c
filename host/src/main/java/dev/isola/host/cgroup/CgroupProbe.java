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
    CgroupProbe trial = new CgroupProbe();
    List<CgroupLocation> places = new ArrayList<>();
    hierarchies.stream()
        .filter(Hierarchy::unified)
        .forEach(hierarchy -> trial.bestLocation(hierarchy).ifPresent(places::add));
    // The unified hierarchy freezes, kills and accounts CPU time even if all controllers use
    // version 1.
    boolean freezes = places.stream().anyMatch(CgroupLocation::canFreeze);
    boolean measures = !places.isEmpty();
    for (Hierarchy hierarchy : hierarchies) {
      boolean limits = hierarchy.has("memory") || hierarchy.has("cpu") || hierarchy.has("pids");
      if (!hierarchy.unified()
          && (limits
              || hierarchy.isShownInSandbox()
              || (hierarchy.has("freezer") && !freezes)
              || (hierarchy.has("cpuacct") && !measures))) {
        trial.bestLocation(hierarchy).ifPresent(places::add);
      }
    }
    return List.copyOf(places);
  }

  /** Returns the first location at which all available limits work, or the one with the most. */
  private Optional<CgroupLocation> bestLocation(Hierarchy hierarchy) {
    Optional<CgroupLocation> best = Optional.empty();
    for (Path spot : hierarchy.candidateParents()) {
      Optional<CgroupLocation> place = probe(hierarchy, spot);
      if (place.isPresent()
          && (best.isEmpty() || best.get().limits().size() < place.get().limits().size())) {
        best = place;
      }
      if (best.isPresent() && best.get().limits().size() == available(hierarchy).size()) {
        break;
      }
    }
    return best;
  }

  private static Set<LimitKind> available(Hierarchy hierarchy) {
    Set<LimitKind> wanted = EnumSet.noneOf(LimitKind.class);
    for (LimitKind kind : KINDS) {
      if (hierarchy.has(CgroupSetting.controller(kind))) {
        wanted.add(kind);
      }
    }
    return wanted;
  }

  private Optional<CgroupLocation> probe(Hierarchy hierarchy, Path spot) {
    // Without write access to this group, its processes cannot be moved to a child either.
    if (!Files.isWritable(spot) || !Files.isWritable(spot.resolve("cgroup.procs"))) {
      return Optional.empty();
    }
    Path group = spot.resolve(name);
    try {
      Files.createDirectory(group);
    } catch (IOException e) {
      return Optional.empty();
    }
    try {
      Set<LimitKind> limits = EnumSet.noneOf(LimitKind.class);
      for (LimitKind kind : available(hierarchy)) {
        if ((!hierarchy.unified()
                || new Delegation(hierarchy, spot).grant(CgroupSetting.controller(kind)))
            && enforces(kind, hierarchy, spot, group)) {
          limits.add(kind);
        }
      }
      if (!Cpuset.inherit(hierarchy, spot, group)) {
        return Optional.empty();
      }
      // No process can join a child of a group that shares controllers with its own processes.
      if (KernelFile.read(group.resolve("cgroup.type")).equals("domain invalid")) {
        return Optional.empty();
      }
      return Optional.of(
          new CgroupLocation(hierarchy, spot, limits, Freezer.of(group).isPresent()));
    } finally {
      delete(group);
    }
  }

  private static boolean enforces(LimitKind kind, Hierarchy hierarchy, Path spot, Path group) {
    try {
      for (CgroupSetting setting : CgroupSetting.of(kind, LIMITS, hierarchy, spot)) {
        setting.write(group);
      }
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** Returns why the kernel rejects a limit; empty if it accepts it. */
  static Optional<String> refusal(IoLimit limit, CgroupLocation place) {
    Path group = place.parent().resolve(new CgroupProbe().name);
    try {
      Files.createDirectory(group);
      for (CgroupSetting setting : limit.settings(place.hierarchy().unified())) {
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
