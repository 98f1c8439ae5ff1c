/** Who may make a sandbox, in which order, and why the others may not. Pure. */
@NullMarked
package dev.isola.engine.selection;

import org.jspecify.annotations.NullMarked;
