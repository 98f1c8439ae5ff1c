/** Asks providers how they are, and remembers the answers. */
@NullMarked
package dev.isola.engine.health;

import org.jspecify.annotations.NullMarked;
