/** Programs of the host that run to their end. */
@NullMarked
package dev.isola.codec.process;

import org.jspecify.annotations.NullMarked;
