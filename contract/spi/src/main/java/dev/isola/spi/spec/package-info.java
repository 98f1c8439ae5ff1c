/** What is asked of a sandbox: the spec, its defaults and its validation. */
@NullMarked
package dev.isola.spi.spec;

import org.jspecify.annotations.NullMarked;
