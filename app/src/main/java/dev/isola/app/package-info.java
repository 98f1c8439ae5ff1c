/** The isola command, and the only place that wires everything. */
@NullMarked
package dev.isola.app;

import org.jspecify.annotations.NullMarked;
