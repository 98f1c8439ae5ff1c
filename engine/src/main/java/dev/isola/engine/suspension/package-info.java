/** Suspended sandboxes, stored as snapshots. */
@NullMarked
package dev.isola.engine.suspension;

import org.jspecify.annotations.NullMarked;
