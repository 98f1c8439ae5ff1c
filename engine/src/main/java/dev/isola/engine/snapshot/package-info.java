/** Snapshots of sandboxes: taken, restored into new ones, forked. */
@NullMarked
package dev.isola.engine.snapshot;

import org.jspecify.annotations.NullMarked;
