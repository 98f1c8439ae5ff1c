/** A provider without processes, for tests of the code that calls providers. */
@NullMarked
package dev.isola.testing.fake;

import org.jspecify.annotations.NullMarked;
