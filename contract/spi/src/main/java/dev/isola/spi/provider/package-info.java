/** Providers: how they are discovered, what they declare and how they create sandboxes. */
@NullMarked
package dev.isola.spi.provider;

import org.jspecify.annotations.NullMarked;
