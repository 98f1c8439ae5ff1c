package dev.isola.conformance.escape;

import java.util.List;
import java.util.stream.Stream;

/** All escape probes, by topic. */
public final class EscapeProbes {
  private EscapeProbes() {}

  public static List<EscapeProbe> all() {
    return Stream.of(
            FileProbes.all(),
            ProcessProbes.all(),
            InheritedStateProbes.all(),
            NamespaceProbes.all(),
            KernelProbes.all(),
            DeviceProbes.all(),
            NetworkProbes.all(),
            MemoryProbes.all(),
            AgentProbes.all(),
            OtherSandboxProbes.all(),
            ResourceProbes.all())
        .flatMap(List::stream)
        .toList();
  }
}
