/** Creates sandboxes for E2B's clients: the order, the network, what runs first. */
@NullMarked
package dev.isola.compat.e2b.create;

import org.jspecify.annotations.NullMarked;
