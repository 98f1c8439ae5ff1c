/** Deadlines, and waiting for a condition until one. */
@NullMarked
package dev.isola.codec.time;

import org.jspecify.annotations.NullMarked;
