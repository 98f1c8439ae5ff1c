/** Bytes between requests and sandboxes: files and ranges of them, standard input, output. */
@NullMarked
package dev.isola.server.content;

import org.jspecify.annotations.NullMarked;
