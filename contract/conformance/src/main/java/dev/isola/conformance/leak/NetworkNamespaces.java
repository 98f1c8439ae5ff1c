package dev.isola.conformance.leak;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Network namespaces whose name starts with {@code isola}, and those of the processes in scope. */
final class NetworkNamespaces {
  private static final Path NAMED = Path.of("/run/netns");

  private NetworkNamespaces() {}

  static List<TrackedResource> find(ScanScope scope, List<MarkedProcess> processes) {
    List<TrackedResource> found = new ArrayList<>();
    for (String name : ProcFiles.names(NAMED)) {
      if (name.startsWith("isola") && scope.ownsName(name)) {
        found.add(toResource(name, "network namespace " + name));
      }
    }
    Set<String> seen = new HashSet<>(Set.of("", MarkedProcess.ownNetwork()));
    for (MarkedProcess process : processes) {
      String network = process.network();
      if (seen.add(network)) {
        found.add(
            toResource(network, "network namespace " + network + " of process " + process.pid()));
      }
    }
    return found;
  }

  private static TrackedResource toResource(String id, String description) {
    return new TrackedResource(TrackedResource.Kind.NETWORK_NAMESPACE, id, description);
  }
}
