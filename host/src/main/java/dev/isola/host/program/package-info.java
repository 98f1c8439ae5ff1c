/** Programs of the host: their versions, and which of those have known holes. */
@NullMarked
package dev.isola.host.program;

import org.jspecify.annotations.NullMarked;
