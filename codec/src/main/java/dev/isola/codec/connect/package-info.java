/** Streams of the Connect protocol, which the E2B agent uses. */
@NullMarked
package dev.isola.codec.connect;

import org.jspecify.annotations.NullMarked;
