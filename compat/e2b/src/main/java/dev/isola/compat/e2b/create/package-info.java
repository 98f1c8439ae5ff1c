/** Creates sandboxes for E2B's clients: request mapping, egress rules and startup commands. */
@NullMarked
package dev.isola.compat.e2b.create;

import org.jspecify.annotations.NullMarked;
