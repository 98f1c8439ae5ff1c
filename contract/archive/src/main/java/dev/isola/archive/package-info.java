/** Validation of paths in archives. */
@NullMarked
package dev.isola.archive;

import org.jspecify.annotations.NullMarked;
