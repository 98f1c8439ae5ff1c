/** Errors: one sealed exception hierarchy, one set of stable codes, and one way to create both. */
@NullMarked
package dev.isola.spi.error;

import org.jspecify.annotations.NullMarked;
