/**
 * Files inside a sandbox. Paths are paths of the sandbox; relative paths start at its working
 * folder.
 */
@NullMarked
package dev.isola.spi.file;

import org.jspecify.annotations.NullMarked;
