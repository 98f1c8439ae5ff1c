/**
 * Files inside a sandbox. Paths are the sandbox's own; relative ones start at its working folder.
 */
@NullMarked
package dev.isola.spi.file;

import org.jspecify.annotations.NullMarked;
