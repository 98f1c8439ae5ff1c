/** Machines of Firecracker: its API, its jailer, templates. */
@NullMarked
package dev.isola.provider.microvm.firecracker;

import org.jspecify.annotations.NullMarked;
