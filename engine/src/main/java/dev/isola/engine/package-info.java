/** Decides and keeps: what the parts of the engine share. */
@NullMarked
package dev.isola.engine;

import org.jspecify.annotations.NullMarked;
