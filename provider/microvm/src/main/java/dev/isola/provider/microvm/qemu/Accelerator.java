package dev.isola.provider.microvm.qemu;

import dev.isola.link.MachineArchitecture;

/** How QEMU executes the instructions of a guest. */
enum Accelerator {
  /** By the processor. */
  KVM,
  /** By translating them, which is many times slower. */
  EMULATION;

  /** A larger translation cache would count as memory of the sandbox. */
  private static final int TRANSLATION_CACHE_MB = 128;

  String option() {
    return this == KVM ? "kvm" : "tcg,thread=multi,tb-size=" + TRANSLATION_CACHE_MB;
  }

  /** Kernels newer than QEMU 7.2 crash on its emulation of cmpxchg16b. */
  String processor(MachineArchitecture architecture) {
    if (this == KVM) {
      return "host";
    }
    return switch (architecture) {
      case X86_64 -> "max,cx16=off";
      case AARCH64 -> "max";
    };
  }

  /** The memory that QEMU needs besides that of the guest. */
  int overheadMb() {
    return this == KVM ? 96 : 96 + TRANSLATION_CACHE_MB;
  }
}
