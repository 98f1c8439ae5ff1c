/** The spec of a sandbox: its fields, defaults and validation. */
@NullMarked
package dev.isola.spi.spec;

import org.jspecify.annotations.NullMarked;
