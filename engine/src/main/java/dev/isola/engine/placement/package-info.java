/** Placement: creates a sandbox at the first candidate that can. */
@NullMarked
package dev.isola.engine.placement;

import org.jspecify.annotations.NullMarked;
