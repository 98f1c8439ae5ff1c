/** The list of all check classes, and the checks found in them. */
@NullMarked
package dev.isola.conformance.kit;

import org.jspecify.annotations.NullMarked;
