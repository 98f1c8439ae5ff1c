/** Volumes of E2B's clients: their names, and what is in them. */
@NullMarked
package dev.isola.server.e2b.volume;

import org.jspecify.annotations.NullMarked;
