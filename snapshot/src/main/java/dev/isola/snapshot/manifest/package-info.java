/** The list of a snapshot: every file with all that is known of it. */
@NullMarked
package dev.isola.snapshot.manifest;

import org.jspecify.annotations.NullMarked;
