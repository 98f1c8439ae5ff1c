/** A small POSIX shell and the programs it can run. */
@NullMarked
package dev.isola.provider.memory.shell;

import org.jspecify.annotations.NullMarked;
