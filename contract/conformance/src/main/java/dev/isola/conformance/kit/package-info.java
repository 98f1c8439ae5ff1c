/** The list of all check classes and their checks. */
@NullMarked
package dev.isola.conformance.kit;

import org.jspecify.annotations.NullMarked;
