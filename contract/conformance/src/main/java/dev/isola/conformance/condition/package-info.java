/** The kit's one way to wait for a condition. */
@NullMarked
package dev.isola.conformance.condition;

import org.jspecify.annotations.NullMarked;
