/** Snapshots and forks of sandboxes. */
@NullMarked
package dev.isola.engine.api.snapshot;

import org.jspecify.annotations.NullMarked;
