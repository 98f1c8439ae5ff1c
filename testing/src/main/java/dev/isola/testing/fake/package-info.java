/** A provider without processes, for tests of what calls a provider. */
@NullMarked
package dev.isola.testing.fake;

import org.jspecify.annotations.NullMarked;
