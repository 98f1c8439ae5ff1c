/** Volumes of E2B's clients: their names, and what is in them. */
@NullMarked
package dev.isola.compat.e2b.volume;

import org.jspecify.annotations.NullMarked;
