/**
 * What can go wrong: one sealed exception, one enumeration of stable codes, one way to make them.
 */
@NullMarked
package dev.isola.spi.error;

import org.jspecify.annotations.NullMarked;
