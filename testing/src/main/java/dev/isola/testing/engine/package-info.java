/** Private container engines for tests, which leave nothing behind. */
@NullMarked
package dev.isola.testing.engine;

import org.jspecify.annotations.NullMarked;
