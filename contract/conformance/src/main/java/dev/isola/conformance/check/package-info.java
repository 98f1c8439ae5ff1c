/** The checks, a class for each subject. */
@NullMarked
package dev.isola.conformance.check;

import org.jspecify.annotations.NullMarked;
