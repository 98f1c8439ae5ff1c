package dev.isola.conformance.leak;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The resources on this machine that carry an Isola label, at one moment: processes, cgroups,
 * mounts, loop devices, network namespaces and interfaces, Unix sockets, sandbox folders, and the
 * open descriptors of this JVM.
 *
 * <p>Resources that this user cannot inspect, such as processes of another user or mounts in
 * another namespace, are not included.
 *
 * @param descriptors the number of open descriptors of this JVM, by kind
 */
public record ResourceScan(List<TrackedResource> resources, Map<String, Integer> descriptors) {
  public ResourceScan {
    resources = List.copyOf(resources);
    descriptors = Map.copyOf(descriptors);
  }

  /** Scans for resources of any installation, regardless of its data folder. */
  public static ResourceScan scan() {
    return scan(ScanScope.ALL_INSTALLATIONS);
  }

  static ResourceScan scan(ScanScope scope) {
    List<MarkedProcess> processes = MarkedProcess.find(scope);
    OpenDescriptors descriptors = OpenDescriptors.find(scope);
    List<TrackedResource> resources = new ArrayList<>();
    processes.forEach(process -> resources.add(process.toResource()));
    resources.addAll(Cgroups.find(scope));
    resources.addAll(MountPoint.find(scope));
    resources.addAll(LoopDevices.find(scope));
    resources.addAll(NetworkNamespaces.find(scope, processes));
    resources.addAll(NetworkInterfaces.find(scope));
    resources.addAll(UnixSockets.find(scope));
    resources.addAll(SandboxDataFolders.find(scope));
    resources.addAll(descriptors.inside());
    return new ResourceScan(resources, descriptors.counts());
  }

  /** Returns descriptions of the resources that are in {@code after} and not in {@code before}. */
  public static List<String> difference(ResourceScan before, ResourceScan after) {
    List<String> leaked = new ArrayList<>();
    for (TrackedResource resource : after.resources) {
      if (before.resources.stream().noneMatch(resource::isSameAs)) {
        leaked.add(resource.description());
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
   * Returns this scan with descriptor counts raised to at least {@code atLeast}, as a baseline that
   * allows so many.
   */
  public ResourceScan allowingDescriptors(Map<String, Integer> atLeast) {
    Map<String, Integer> allowed = new TreeMap<>(descriptors);
    atLeast.forEach((kind, count) -> allowed.merge(kind, count, Math::max));
    return new ResourceScan(resources, allowed);
  }
}
