/** Builds and tests the repository: the program behind {@code ./check}. */
@NullMarked
package dev.isola.testing.runner;

import org.jspecify.annotations.NullMarked;
