/** Simulated processes: virtual threads with a pid, signals, pipes, terminals and kept output. */
@NullMarked
package dev.isola.provider.memory.process;

import org.jspecify.annotations.NullMarked;
