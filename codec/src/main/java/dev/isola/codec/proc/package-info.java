/** Text files of the kernel's {@code /proc}. */
@NullMarked
package dev.isola.codec.proc;

import org.jspecify.annotations.NullMarked;
