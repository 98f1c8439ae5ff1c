/** Streams of the Connect protocol, which E2B's agent speaks. */
@NullMarked
package dev.isola.codec.connect;

import org.jspecify.annotations.NullMarked;
