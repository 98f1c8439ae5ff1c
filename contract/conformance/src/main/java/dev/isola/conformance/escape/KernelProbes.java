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
        privilege("modulesAreNotLoaded", "code in the kernel", "modules"),
        privilege("kernelIsNotReplaced", "another kernel (kexec)", "kexec"),
        privilege("bpfIsRefused", "programs in the kernel (bpf)", "bpf"),
        privilege("perfIsRefused", "counters of the kernel (perf_event_open)", "perf"),
        privilege("userfaultfdIsRefused", "blocking the kernel (userfaultfd)", "userfaultfd"),
        privilege("ioUringIsRefused", "asynchronous system calls (io_uring)", "io-uring"),
        EscapeProbe.of(
            "keysOfTheHostAreNotRead",
            KERNEL,
            "a key of the host's keyrings",
            context -> List.of("keys", context.one("key"), context.id())),
        privilege("machineIsNotRebooted", "a reboot", "reboot"),
        privilege("clockIsNotSet", "the host's time", "clock"),
        privilege("hostNameIsNotSet", "the host's name", "host-name"),
        privilege("swapIsNotChanged", "the host's swap space", "swap"),
        privilege("accountingIsNotChanged", "process accounting", "accounting"),
        privilege("kernelLogIsNotRead", "the host's kernel log", "kernel-log"),
        privilege("ioPortsAreNotReached", "I/O ports", "io-ports"),
        privilege("filterIsNotPassedByOtherCalls", "system calls of other ABIs", "other-calls"),
        privilege("kernelMemoryIsNotRead", "the kernel's memory", "kernel-memory"),
        privilege("kernelAddressesAreNotShown", "addresses of kernel symbols", "kernel-addresses"),
        privilege("kernelSettingsAreNotWritten", "core_pattern and other settings", "settings"),
        privilege("sysrqIsNotTriggered", "SysRq commands", "sysrq"),
        privilege("sysfsIsNotWritten", "settings of the machine in /sys", "sysfs"));
  }

  private static EscapeProbe privilege(String name, String target, String program) {
    return EscapeProbe.ofKernel(name, KERNEL, target, program);
  }
}
