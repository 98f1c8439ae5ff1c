package dev.isola.conformance.escape;

import static dev.isola.conformance.escape.EscapeProbe.Topic.RESOURCES;

import java.util.List;

/** Probes that try to get more than a fair share of the machine. */
final class ResourceProbes {
  private ResourceProbes() {}

  static List<EscapeProbe> all() {
    return List.of(
        privilege("priorityIsNotRaised", "a higher priority than others", "priority"),
        privilege("realTimeIsRefused", "real-time scheduling", "real-time"),
        privilege("ioPriorityIsNotRaised", "real-time I/O priority", "io-priority"),
        privilege("hardLimitsAreNotRaised", "higher hard limits", "limits"),
        privilege("killerIsNotAvoided", "protection from the OOM killer", "out-of-memory"));
  }

  private static EscapeProbe privilege(String name, String target, String program) {
    return EscapeProbe.ofKernel(name, RESOURCES, target, program);
  }
}
