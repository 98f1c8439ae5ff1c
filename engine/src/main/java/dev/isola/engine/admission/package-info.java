/**
 * Admission control: reserves memory and CPU for sandboxes within the configured capacity, while
 * memory and disk space are free.
 */
@NullMarked
package dev.isola.engine.admission;

import org.jspecify.annotations.NullMarked;
