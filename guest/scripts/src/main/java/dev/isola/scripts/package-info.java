/** POSIX shell scripts by which a provider reaches the files of a sandbox without an agent. */
@NullMarked
package dev.isola.scripts;

import org.jspecify.annotations.NullMarked;
