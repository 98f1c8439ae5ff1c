/** Test utilities shared by several modules, except those of the conformance kit. */
@NullMarked
package dev.isola.testing;

import org.jspecify.annotations.NullMarked;
