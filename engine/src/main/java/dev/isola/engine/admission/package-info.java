/** Admission control: reserves memory and CPU for sandboxes within the configured capacity. */
@NullMarked
package dev.isola.engine.admission;

import org.jspecify.annotations.NullMarked;
