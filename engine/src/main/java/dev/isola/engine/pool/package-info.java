/** Sandboxes that are made before anybody asks for them. */
@NullMarked
package dev.isola.engine.pool;

import org.jspecify.annotations.NullMarked;
