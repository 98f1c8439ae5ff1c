/** Snapshots as images, and what snapshots and forks of memory need. */
@NullMarked
package dev.isola.engine.snapshot;

import org.jspecify.annotations.NullMarked;
