/** Rules for the names in an archive, and the error for one that breaks them. */
@NullMarked
package dev.isola.archive;

import org.jspecify.annotations.NullMarked;
