/** Snapshots: the files of a sandbox at a point in time, stored with deduplication. */
@NullMarked
package dev.isola.snapshot;

import org.jspecify.annotations.NullMarked;
