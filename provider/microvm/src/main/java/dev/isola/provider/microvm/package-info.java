/** Sandboxes in virtual machines, each with a kernel of its own and the guest agent as its init. */
@NullMarked
package dev.isola.provider.microvm;

import org.jspecify.annotations.NullMarked;
