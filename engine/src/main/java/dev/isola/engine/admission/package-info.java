/** Promises memory and processors, and no more of them than there are. */
@NullMarked
package dev.isola.engine.admission;

import org.jspecify.annotations.NullMarked;
