/** The conformance kit as JUnit tests. */
@NullMarked
package dev.isola.conformance.junit;

import org.jspecify.annotations.NullMarked;
