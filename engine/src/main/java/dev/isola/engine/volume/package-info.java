/** Volumes that clients name: created, listed, removed, and reached without a sandbox of theirs. */
@NullMarked
package dev.isola.engine.volume;

import org.jspecify.annotations.NullMarked;
