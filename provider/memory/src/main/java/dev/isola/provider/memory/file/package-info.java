/** The simulated file system: a tree of nodes, archives, watches. */
@NullMarked
package dev.isola.provider.memory.file;

import org.jspecify.annotations.NullMarked;
