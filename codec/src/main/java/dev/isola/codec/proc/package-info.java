/** Parsers for text files of {@code /proc}. */
@NullMarked
package dev.isola.codec.proc;

import org.jspecify.annotations.NullMarked;
