/** {@code isola bench}: its options and its report. */
@NullMarked
package dev.isola.bench.command;

import org.jspecify.annotations.NullMarked;
