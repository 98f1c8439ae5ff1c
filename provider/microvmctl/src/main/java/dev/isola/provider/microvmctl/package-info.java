/** Sandboxes that a command of the local_microvm contract controls, on this or another machine. */
@NullMarked
package dev.isola.provider.microvmctl;

import org.jspecify.annotations.NullMarked;
