package dev.isola.conformance.escape;

import java.util.List;
import java.util.stream.Stream;

/** All probes there are, topic by topic. */
public final class Probes {
  private Probes() {}

  public static List<Probe> all() {
    return Stream.of(
            FileProbes.all(),
            ProcessProbes.all(),
            GivenProbes.all(),
            NamespaceProbes.all(),
            KernelProbes.all(),
            DeviceProbes.all(),
            NetworkProbes.all(),
            MemoryProbes.all(),
            AgentProbes.all(),
            NeighbourProbes.all(),
            ResourceProbes.all())
        .flatMap(List::stream)
        .toList();
  }
}
