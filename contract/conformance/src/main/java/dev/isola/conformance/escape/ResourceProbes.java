package dev.isola.conformance.escape;

import static dev.isola.conformance.escape.EscapeProbe.Topic.RESOURCES;

import java.util.List;

/** Probes that try to get more than a fair share of the machine. */
final class ResourceProbes {
  private ResourceProbes() {}

  static List<EscapeProbe> all() {
    return List.of(
        gate("priorityIsNotRaised", "a higher priority than others", "priority"),
        gate("realTimeIsRefused", "real-time scheduling", "real-time"),
        gate("ioPriorityIsNotRaised", "real-time I/O priority", "io-priority"),
        gate("hardLimitsAreNotRaised", "higher hard limits", "limits"),
        gate("killerIsNotAvoided", "protection from the OOM killer", "out-of-memory"));
  }

  private static EscapeProbe gate(String name, String words, String program) {
    return EscapeProbe.ofKernel(name, RESOURCES, words, program);
  }
}
