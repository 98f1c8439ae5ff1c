/** Programs that tests start, and the packages that those need. */
@NullMarked
package dev.isola.testing.program;

import org.jspecify.annotations.NullMarked;
