/** What is asked of a sandbox: the spec, its defaults, its validation and its older versions. */
@NullMarked
package dev.isola.spi.spec;

import org.jspecify.annotations.NullMarked;
