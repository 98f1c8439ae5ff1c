package dev.isola.conformance.escape;

import static dev.isola.conformance.escape.EscapeProbe.Topic.KERNEL;

import java.util.List;

/**
 * Probes of privileges over the machine, and of kernel features that have enabled escapes before.
 */
final class KernelProbes {
  private KernelProbes() {}

  static List<EscapeProbe> all() {
    return List.of(
        gate("modulesAreNotLoaded", "code in the kernel", "modules"),
        gate("kernelIsNotReplaced", "another kernel (kexec)", "kexec"),
        gate("bpfIsRefused", "programs in the kernel (bpf)", "bpf"),
        gate("perfIsRefused", "counters of the kernel (perf_event_open)", "perf"),
        gate("userfaultfdIsRefused", "holding the kernel up (userfaultfd)", "userfaultfd"),
        gate("ioUringIsRefused", "a second way into the kernel (io_uring)", "io-uring"),
        EscapeProbe.of(
            "keysOfTheHostAreNotRead",
            KERNEL,
            "a key of the host's keyrings",
            scene -> List.of("keys", scene.one("key"), scene.id())),
        gate("machineIsNotRebooted", "a reboot", "reboot"),
        gate("clockIsNotSet", "the host's time", "clock"),
        gate("hostNameIsNotSet", "the host's name", "host-name"),
        gate("swapIsNotChanged", "the host's memory, on a disk", "swap"),
        gate("accountingIsNotChanged", "a record of all processes", "accounting"),
        gate("kernelLogIsNotRead", "the host's kernel log", "kernel-log"),
        gate("ioPortsAreNotReached", "the machine's ports", "io-ports"),
        gate("filterIsNotPassedByOtherCalls", "calls that a filter may not know", "other-calls"),
        gate("kernelMemoryIsNotRead", "the kernel's memory", "kernel-memory"),
        gate("kernelAddressesAreNotShown", "where the kernel lies in memory", "kernel-addresses"),
        gate("kernelSettingsAreNotWritten", "core_pattern and other settings", "settings"),
        gate("sysrqIsNotTriggered", "the magic key", "sysrq"),
        gate("sysfsIsNotWritten", "settings of the machine in /sys", "sysfs"));
  }

  private static EscapeProbe gate(String name, String words, String program) {
    return EscapeProbe.ofKernel(name, KERNEL, words, program);
  }
}
