/** Container engines of the tests' own, that leave nothing behind. */
@NullMarked
package dev.isola.testing.engine;

import org.jspecify.annotations.NullMarked;
