/** Virtual machines run by QEMU, with KVM or by emulation. */
@NullMarked
package dev.isola.provider.microvm.qemu;

import org.jspecify.annotations.NullMarked;
