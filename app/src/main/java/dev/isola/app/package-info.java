/** The {@code isola} command, the only place that wires all modules together. */
@NullMarked
package dev.isola.app;

import org.jspecify.annotations.NullMarked;
