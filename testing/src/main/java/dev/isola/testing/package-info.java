/** What tests of several modules share and the conformance kit does without. */
@NullMarked
package dev.isola.testing;

import org.jspecify.annotations.NullMarked;
