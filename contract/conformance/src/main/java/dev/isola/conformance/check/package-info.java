/** The checks, one class per group. */
@NullMarked
package dev.isola.conformance.check;

import org.jspecify.annotations.NullMarked;
