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
        gate("userfaultfdIsRefused", "blocking the kernel (userfaultfd)", "userfaultfd"),
        gate("ioUringIsRefused", "asynchronous system calls (io_uring)", "io-uring"),
        EscapeProbe.of(
            "keysOfTheHostAreNotRead",
            KERNEL,
            "a key of the host's keyrings",
            scene -> List.of("keys", scene.one("key"), scene.id())),
        gate("machineIsNotRebooted", "a reboot", "reboot"),
        gate("clockIsNotSet", "the host's time", "clock"),
        gate("hostNameIsNotSet", "the host's name", "host-name"),
        gate("swapIsNotChanged", "the host's swap space", "swap"),
        gate("accountingIsNotChanged", "process accounting", "accounting"),
        gate("kernelLogIsNotRead", "the host's kernel log", "kernel-log"),
        gate("ioPortsAreNotReached", "I/O ports", "io-ports"),
        gate("filterIsNotPassedByOtherCalls", "system calls of other ABIs", "other-calls"),
        gate("kernelMemoryIsNotRead", "the kernel's memory", "kernel-memory"),
        gate("kernelAddressesAreNotShown", "addresses of kernel symbols", "kernel-addresses"),
        gate("kernelSettingsAreNotWritten", "core_pattern and other settings", "settings"),
        gate("sysrqIsNotTriggered", "SysRq commands", "sysrq"),
        gate("sysfsIsNotWritten", "settings of the machine in /sys", "sysfs"));
  }

  private static EscapeProbe gate(String name, String words, String program) {
    return EscapeProbe.ofKernel(name, KERNEL, words, program);
  }
}
