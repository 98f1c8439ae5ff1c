/** Implements {@code isola purge}: finds and removes everything that an installation has left. */
@NullMarked
package dev.isola.app.purge;

import org.jspecify.annotations.NullMarked;
