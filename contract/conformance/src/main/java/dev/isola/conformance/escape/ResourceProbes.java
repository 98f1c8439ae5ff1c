package dev.isola.conformance.escape;

import static dev.isola.conformance.escape.EscapeProbe.Topic.RESOURCES;

import java.util.List;

/** Probes that try to get more than a fair share of the machine. */
final class ResourceProbes {
  private ResourceProbes() {}

  static List<EscapeProbe> all() {
    return List.of(
        gate("priorityIsNotRaised", "a higher priority than others", "priority"),
        gate("realTimeIsRefused", "a processor for itself", "real-time"),
        gate("ioPriorityIsNotRaised", "the disks for itself", "io-priority"),
        gate("hardLimitsAreNotRaised", "more than its limits", "limits"),
        gate("killerIsNotAvoided", "being spared when memory is short", "out-of-memory"));
  }

  private static EscapeProbe gate(String name, String words, String program) {
    return EscapeProbe.ofKernel(name, RESOURCES, words, program);
  }
}
