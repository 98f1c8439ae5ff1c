package dev.isola.conformance.leak;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Everything on this machine that bears our mark, at one moment: processes, cgroups, mounts, loop
 * devices, network namespaces and interfaces, unix sockets, sandbox folders, and the open
 * descriptors of this JVM.
 *
 * <p>What cannot be looked at (another user's process, a mount in another namespace) is not seen.
 *
 * @param descriptors how many of this JVM's are open, by kind
 */
public record ResourceScan(List<TrackedResource> resources, Map<String, Integer> descriptors) {
  public ResourceScan {
    resources = List.copyOf(resources);
    descriptors = Map.copyOf(descriptors);
  }

  /** Looks for whatever Isola made here, of whichever installation; it knows no data folder. */
  public static ResourceScan scan() {
    return scan(ScanScope.ALL_INSTALLATIONS);
  }

  static ResourceScan scan(ScanScope scope) {
    List<MarkedProcess> processes = MarkedProcess.find(scope);
    OpenDescriptors descriptors = OpenDescriptors.find(scope);
    List<TrackedResource> things = new ArrayList<>();
    processes.forEach(process -> things.add(process.thing()));
    things.addAll(Cgroups.find(scope));
    things.addAll(MountPoint.find(scope));
    things.addAll(LoopDevices.find(scope));
    things.addAll(NetworkNamespaces.find(scope, processes));
    things.addAll(NetworkInterfaces.find(scope));
    things.addAll(UnixSockets.find(scope));
    things.addAll(SandboxDataFolders.find(scope));
    things.addAll(descriptors.inside());
    return new ResourceScan(things, descriptors.counts());
  }

  /** Returns what is in {@code after} and was not in {@code before}, in words. */
  public static List<String> difference(ResourceScan before, ResourceScan after) {
    List<String> leaked = new ArrayList<>();
    for (TrackedResource thing : after.resources) {
      if (before.resources.stream().noneMatch(thing::isSameAs)) {
        leaked.add(thing.description());
      }
    }
    new TreeMap<>(after.descriptors)
        .forEach(
            (kind, count) -> {
              int was = before.descriptors.getOrDefault(kind, 0);
              if (count > was) {
                leaked.add(kind + " of this JVM: " + was + " before, " + count + " now");
              }
            });
    return List.copyOf(leaked);
  }

  /**
   * Returns this census with at least so many descriptors of a kind, as a baseline that lets others
   * be kept.
   */
  public ResourceScan allowingDescriptors(Map<String, Integer> atLeast) {
    Map<String, Integer> allowed = new TreeMap<>(descriptors);
    atLeast.forEach((kind, count) -> allowed.merge(kind, count, Math::max));
    return new ResourceScan(resources, allowed);
  }
}
