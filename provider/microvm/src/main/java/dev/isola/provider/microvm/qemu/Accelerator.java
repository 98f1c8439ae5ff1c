package dev.isola.provider.microvm.qemu;

import java.util.Locale;

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
  String processor() {
    return this == KVM ? "host" : isArm() ? "max" : "max,cx16=off";
  }

  /** The memory that QEMU needs besides that of the guest. */
  int overheadMb() {
    return this == KVM ? 96 : 96 + TRANSLATION_CACHE_MB;
  }

  boolean isArm() {
    return architecture().equals("aarch64");
  }

  /** Returns the architecture of this machine as QEMU spells it. */
  static String architecture() {
    String name = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
    return name.equals("amd64") ? "x86_64" : name;
  }
}
