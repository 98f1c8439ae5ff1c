/** Makes a sandbox at the first provider that can. */
@NullMarked
package dev.isola.engine.placement;

import org.jspecify.annotations.NullMarked;
