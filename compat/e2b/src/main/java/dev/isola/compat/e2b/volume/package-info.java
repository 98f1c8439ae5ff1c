/** Volumes of E2B's clients and the files in them. */
@NullMarked
package dev.isola.compat.e2b.volume;

import org.jspecify.annotations.NullMarked;
